/** What a key may be used for, over real sockets: one order of refusals on every wire, and no way around the rules about targets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "../ws/support.ts"

const messages = [{ role: "user", content: "Hi" }]
const contents = [{ parts: [{ text: "Hi" }] }]

/** Every way to ask a model. */
const asks = (model: string): ReadonlyArray<readonly [path: string, body: unknown]> => [
  ["/v1/chat/completions", { model, messages }],
  ["/v1/completions", { model, prompt: "Hi" }],
  ["/v1/messages", { model, messages, max_tokens: 9 }],
  ["/v1/messages/count_tokens", { model, messages }],
  ["/v1/responses", { model, input: "Hi" }],
  ["/v1/responses/input_tokens", { model, input: "Hi" }],
  [`/v1beta/models/${encodeURIComponent(model)}:generateContent`, { contents }],
  ["/api/chat", { model, messages }],
  ["/api/generate", { model, prompt: "Hi" }]
]

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [one, two] = [yield* Fake.start, yield* Fake.start]
  for (const upstream of [one, two]) upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
  const [first, second] = yield* Effect.promise(async () => [
    await gateway.connect("one", one, "chat", { defaultModel: "m", models: ["m", "n"] }),
    await gateway.connect("two", two, "chat", { defaultModel: "m", models: ["m", "n"] })
  ])
  const key = async (settings: Readonly<Record<string, unknown>>) => {
    const made = await gateway.manage("POST", "/api/keys", { name: "k", ...settings })
    return { id: String(made.key.id), authorization: `Bearer ${made.secret}` }
  }
  return { gateway, one, two, ids: { one: first?.id ?? "", two: second?.id ?? "" }, key }
})

const codeOf = async (answer: Response): Promise<string> => {
  const { error } = (await answer.json()) as { error: { code?: string; status?: string; message?: string } | string }
  return typeof error === "string" ? error : (error.message ?? "")
}

describe("a key's rules", () => {
  it.scopedLive("refuse in one order on every wire, before any upstream is asked", () =>
    Effect.gen(function* () {
      const { gateway, key, one, two } = yield* setUp
      yield* Effect.promise(async () => {
        const closed = {
          enabled: true,
          from: "00:00",
          until: "00:01",
          days: [(new Date().getUTCDay() + 3) % 7],
          tz: "UTC"
        }
        const { authorization, id } = await key({
          isActive: false,
          accessSchedule: closed,
          ipAllowlist: ["198.51.100.7"],
          allowedEndpoints: ["images"],
          allowedCombos: ["none"],
          allowedModels: ["other/*"],
          blockedModels: ["one/n"]
        })
        await gateway.combo("mix", "one/m", "two/m")
        const asked = one.requests.length + two.requests.length
        const steps: ReadonlyArray<readonly [expected: RegExp, model: string, mend: Record<string, unknown>]> = [
          [/not active/, "mix", { expiresAt: "2020-01-01T00:00:00Z" }],
          [/not active/, "mix", { isActive: true }],
          [/expired/, "mix", { expiresAt: null }],
          [/accessSchedule/, "mix", { accessSchedule: null }],
          [/ipAllowlist/, "mix", { ipAllowlist: ["127.0.0.0/8", "::1"] }],
          [/allowedEndpoints/, "mix", { allowedEndpoints: ["chat"] }],
          [/allowedCombos/, "mix", {}],
          [/may not use the model/, "one/m", {}],
          [/may not use the model/, "unknown/m", {}],
          [/may not use the model/, "one/n", { allowedModels: ["one/*"] }],
          [/may not use the model/, "one/n", {}]
        ]
        for (const [expected, model, mend] of steps) {
          for (const [path, body] of asks(model)) {
            const answer = await gateway.post(path, body, { authorization })
            const isWrongRequest = expected.source.includes("model") && path.startsWith("/v1/messages")
            const text = await codeOf(answer)
            const isOver = /active|expired/.test(expected.source)
            const status = isWrongRequest ? 400 : isOver ? 401 : 403
            assert.strictEqual(answer.status, status, `${path} ${model} ${text}`)
            assert.match(text, expected, `${path} ${model}`)
          }
          await gateway.manage("PATCH", `/api/keys/${id}`, mend)
        }
        assert.strictEqual(one.requests.length + two.requests.length, asked)
        const served = await gateway.post("/v1/chat/completions", { model: "one/m", messages }, { authorization })
        assert.strictEqual(served.status, 200)
        // The lists of models are an endpoint of their own.
        const list = () => fetch(`${gateway.url}/v1/models`, { headers: { authorization } })
        assert.strictEqual((await list()).status, 403)
        await gateway.manage("PATCH", `/api/keys/${id}`, { allowedEndpoints: [] })
        const listed = (await (await list()).json()) as { data: ReadonlyArray<{ id: string }> }
        assert.deepStrictEqual(
          listed.data.map((entry) => entry.id),
          ["one/m"]
        )
      })
    })
  )

  it.scopedLive("let nothing be served by a connection that is not allowed, or by a blocked model", () =>
    Effect.gen(function* () {
      const { gateway, ids, key, one, two } = yield* setUp
      yield* Effect.promise(async () => {
        await gateway.combo("mix", "one/m", "two/m")
        await gateway.combo("outer", "combo:mix")
        await gateway.manage("POST", "/api/models/alias", { alias: "fast", model: "one/m" })
        const tied = await key({ allowedConnections: [ids.two] })
        const blocked = await key({ blockedModels: ["one/*"] })
        const before = one.requests.length
        for (const { authorization } of [tied, blocked]) {
          for (const model of ["mix", "outer", "combo:mix", "auto", "auto/fast", "m", "two/m"]) {
            for (let turn = 0; turn < 3; turn += 1) {
              const answer = await gateway.post("/v1/chat/completions", { model, messages }, { authorization })
              assert.strictEqual(answer.status, 200, `${model} ${await answer.clone().text()}`)
              assert.strictEqual(answer.headers.get("x-gateway-provider"), "two", model)
            }
          }
          for (const model of ["one/m", "fast"]) {
            const answer = await gateway.post("/v1/chat/completions", { model, messages }, { authorization })
            assert.strictEqual(answer.status, 403, model)
          }
        }
        // Nor when all that is allowed fails.
        two.always(Fake.json({ error: { message: "broken" } }, { status: 500 }))
        const failed = await gateway.post("/v1/chat/completions", { model: "mix", messages }, tied)
        assert.isAtLeast(failed.status, 500)
        assert.strictEqual(one.requests.length, before)
      })
    })
  )

  it.scopedLive("let automatic ids pass the gate of models, and a named combo", () =>
    Effect.gen(function* () {
      const { gateway, key, one } = yield* setUp
      yield* Effect.promise(async () => {
        await gateway.combo("mix", "one/m", "two/m")
        const { authorization } = await key({ allowedModels: ["two/*"], allowedCombos: ["mi*"] })
        const status = async (model: string) =>
          (await gateway.post("/v1/chat/completions", { model, messages }, { authorization })).status
        for (let asked = 0; asked < 5; asked += 1) assert.strictEqual(await status("auto"), 200)
        // It chooses among the allowed models only.
        assert.lengthOf(one.requests, 0)
        const { authorization: none } = await key({ allowedModels: ["three/*"] })
        const refused = await gateway.post("/v1/chat/completions", { model: "auto", messages }, { authorization: none })
        assert.strictEqual(refused.status, 403)
        assert.deepStrictEqual(
          [await status("auto/fast"), await status("mix"), await status("two/m"), await status("one/m")],
          [200, 200, 200, 403]
        )
      })
    })
  )

  it.scopedLive("hold for every frame of a WebSocket", () =>
    Effect.gen(function* () {
      const { gateway, key, one } = yield* setUp
      one.always(Fake.sse(Fake.chatStream(["Hello"])))
      const { authorization, id } = yield* Effect.promise(() => key({ allowedModels: ["one/*"] }))
      const client = yield* Ws.open(gateway, "/v1/responses", { authorization })
      yield* Effect.promise(async () => {
        const create = async (model: string) => {
          client.send({ type: "response.create", model, input: "Hi" })
          return (await client.turn()).at(-1)
        }
        assert.strictEqual((await create("one/m")).type, "response.completed")
        assert.strictEqual((await create("two/m")).status, 403)
        for (const [settings, code] of [
          [
            { accessSchedule: { from: "00:00", until: "00:01", days: [(new Date().getUTCDay() + 3) % 7], tz: "UTC" } },
            "key_schedule"
          ],
          [{ accessSchedule: null, ipAllowlist: ["192.0.2.1"] }, "key_ip"],
          [{ ipAllowlist: [], allowedEndpoints: ["models"] }, "key_endpoint"]
        ] as const) {
          await gateway.manage("PATCH", `/api/keys/${id}`, settings)
          const refused = await create("one/m")
          assert.deepStrictEqual([refused.status, refused.error.code], [403, code])
        }
        assert.strictEqual((await Ws.refused(gateway, "/v1/responses", { authorization })).status, 403)
      })
    })
  )

  it.scopedLive("noLog: nothing is kept to go on from, and the usage is", () =>
    Effect.gen(function* () {
      const { gateway, key } = yield* setUp
      yield* Effect.promise(async () => {
        const { authorization } = await key({ noLog: true })
        const ask = (more: object) =>
          gateway.post("/v1/responses", { model: "one/m", input: "Hi", ...more }, { authorization })
        const first = await ask({})
        const { id } = (await first.json()) as { id: string }
        const row = await gateway.usageRow(first.headers.get("x-gateway-request-id") ?? "")
        assert.strictEqual(row.outcome, "completed")
        const next = await ask({ previous_response_id: id })
        assert.strictEqual(next.status, 400)
        assert.include(await next.text(), "previous_response_not_found")
      })
    })
  )
})
