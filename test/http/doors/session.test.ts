/** An admin session on the routes of inference and the playground: only for pages of our own, booked as what it is, and as a key where it names one. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type Headers, password } from "../../support/AdminSession.ts"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const messages = [{ role: "user", content: "Hi" }]
const ask = { model: "up/m", messages }

const setUp = (keysRequired = true) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({
      adminPassword: Redacted.make(password),
      environment: new Map([["REQUIRE_API_KEY", String(keysRequired)]])
    })
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
    return yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat", { models: ["m", "n"] })
      const login = await gateway.post("/api/auth/login", { password })
      const cookie = { cookie: (login.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "" }
      const { csrfToken } = (await login.json()) as { csrfToken: string }
      const csrf = { "x-csrf-token": csrfToken }
      const page = { "sec-fetch-site": "same-origin" }
      const send = (method: string, path: string, headers: Headers, body?: unknown): Promise<Response> =>
        fetch(gateway.url + path, {
          method,
          headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      const key = async (settings: Readonly<Record<string, unknown>> = {}) => {
        const made = await gateway.manage("POST", "/api/keys", { name: "tried", ...settings })
        return { id: String(made.key.id), bearer: { authorization: `Bearer ${made.secret}` } }
      }
      const audit = async (requestId: string) =>
        eventuallyFound(`the audit row of ${requestId}`, async () => {
          const entries = await gateway.manage("GET", `/api/compliance/audit-log?requestId=${requestId}`)
          return entries[0]
        })
      return { gateway, upstream, send, key, audit, cookie, csrf, page, own: { ...cookie, ...csrf, ...page } }
    })
  })

const idOf = (answer: Response): string => answer.headers.get("x-gateway-request-id") ?? ""

const codeOf = async (answer: Response): Promise<string> => {
  const body = (await answer.json()) as { error?: { code?: string } | string }
  return typeof body.error === "string" ? body.error : (body.error?.code ?? "")
}

/** Every kind of route, with the status of a request that is let in. */
const doors: ReadonlyArray<readonly [method: string, path: string, body?: unknown]> = [
  ["POST", "/v1/chat/completions", ask],
  ["POST", "/v1/completions", { model: "up/m", prompt: "Hi" }],
  ["POST", "/v1/messages", { ...ask, max_tokens: 9 }],
  ["POST", "/v1/messages/count_tokens", ask],
  ["POST", "/v1/responses", { model: "up/m", input: "Hi" }],
  ["POST", "/v1beta/models/up%2Fm:generateContent", { contents: [{ parts: [{ text: "Hi" }] }] }],
  ["POST", "/api/chat", ask],
  ["POST", "/v1/embeddings", { model: "up/m", input: "Hi" }],
  ["POST", "/v1/images/generations", { model: "up/m", prompt: "Hi" }],
  ["GET", "/v1/models"],
  ["GET", "/v1beta/models"],
  ["GET", "/api/tags"],
  ["GET", "/v1/files"],
  ["GET", "/v1/batches"],
  ["GET", "/v1/videos"],
  ["GET", "/v1/responses/resp_x"],
  ["GET", "/api/playground/presets"],
  ["POST", "/api/playground/snippets", { endpoint: "chat", model: "up/m" }],
  ["POST", "/api/playground/improve-prompt", { prompt: "x", model: "up/m" }]
]

describe("an admin session on inference routes and the playground", () => {
  it.scopedLive("counts with Sec-Fetch-Site same-origin and the right token, on every wire, and in no other way", () =>
    Effect.gen(function* () {
      const { cookie, csrf, own, page, send } = yield* setUp()
      yield* Effect.promise(async () => {
        const refused: ReadonlyArray<Headers> = [
          cookie,
          { ...cookie, ...csrf },
          { ...cookie, ...page },
          { ...cookie, ...page, "x-csrf-token": "wrong" },
          { ...cookie, ...csrf, "sec-fetch-site": "none" },
          { ...cookie, ...csrf, "sec-fetch-site": "same-site" },
          { ...cookie, ...csrf, "sec-fetch-site": "cross-site" },
          { ...own, origin: "https://evil.example" },
          { ...csrf, ...page },
          { ...own, cookie: `gateway_session=${"A".repeat(43)}` }
        ]
        for (const [method, path, body] of doors) {
          for (const headers of refused) {
            const answer = await send(method, path, headers, body)
            assert.include([401, 403], answer.status, `${method} ${path} ${JSON.stringify(headers)}`)
            await answer.body?.cancel()
          }
          const answer = await send(method, path, own, body)
          assert.notInclude([401, 403, 415], answer.status, `${method} ${path}: ${await answer.text()}`)
        }
        const told = await send("POST", "/v1/chat/completions", { ...cookie, ...page }, ask)
        assert.deepStrictEqual([told.status, await codeOf(told)], [401, "session_unproved"])
      })
    })
  )

  it.scopedLive("does not count on MCP, A2A, upgrades, or where a key was sent", () =>
    Effect.gen(function* () {
      const { gateway, own, send, key } = yield* setUp()
      yield* Effect.promise(async () => {
        const handshake = await send("GET", "/v1/ws?handshake=1", own)
        assert.strictEqual(handshake.status, 401)
        const wrong = await send("POST", "/v1/chat/completions", { ...own, authorization: "Bearer gw_wrong" }, ask)
        assert.deepStrictEqual([wrong.status, await codeOf(wrong)], [401, "invalid_api_key"])
        const { bearer, id } = await key()
        const answer = await send("POST", "/v1/chat/completions", { ...own, ...bearer }, ask)
        const row = await gateway.usageRow(idOf(answer))
        assert.deepStrictEqual([row.apiKeyId, row.principal], [id, "key"])
      })
    })
  )

  for (const keysRequired of [true, false]) {
    it.scopedLive(`is booked as session, also from the playground, where keys are required: ${keysRequired}`, () =>
      Effect.gen(function* () {
        const { gateway, own, send } = yield* setUp(keysRequired)
        yield* Effect.promise(async () => {
          const answer = await send("POST", "/v1/chat/completions", { ...own, origin: gateway.url }, ask)
          assert.strictEqual(answer.status, 200)
          const row = await gateway.usageRow(idOf(answer))
          assert.deepStrictEqual([row.apiKeyId, row.principal], [null, "session"])
          const { decision } = await gateway.manage("GET", `/api/routing/decisions/${idOf(answer)}`)
          assert.strictEqual(decision.requestedModel, "up/m")
          const compared = await send(
            "POST",
            "/api/playground/compare",
            { ...own, origin: gateway.url },
            { models: ["up/n"], prompt: "x" }
          )
          const id = /"requestId":"([^"]+)"/.exec(await compared.text())?.[1] ?? ""
          const asked = await gateway.usageRow(id)
          assert.deepStrictEqual([asked.apiKeyId, asked.principal], [null, "session"])
        })
      })
    )
  }

  it.scopedLive("a page of ours sends forms while no key is required: the token proves that its user asks", () =>
    Effect.gen(function* () {
      const { cookie, gateway, own, page } = yield* setUp(false)
      yield* Effect.promise(async () => {
        const upload = (headers: Headers): Promise<Response> => {
          const form = new FormData()
          form.set("purpose", "batch")
          form.set("file", new Blob(["{}\n"]), "lines.jsonl")
          return fetch(`${gateway.url}/v1/files`, {
            method: "POST",
            headers: { ...headers, origin: gateway.url },
            body: form
          })
        }
        assert.strictEqual((await upload({ ...cookie, ...page })).status, 415)
        assert.strictEqual((await upload(own)).status, 200)
      })
    })
  )
})

describe("X-Gateway-As-Key", () => {
  it.scopedLive(
    "acts with the key's models, limits, budget, files and batches; the row is the key's, the audit log has the session",
    () =>
      Effect.gen(function* () {
        const { audit, gateway, key, own, send } = yield* setUp()
        yield* Effect.promise(async () => {
          const { bearer, id } = await key({ allowedModels: ["up/m"], maxRequestsPerDay: 3 })
          const as = { ...own, "x-gateway-as-key": id }
          const other = await send("POST", "/v1/chat/completions", as, { ...ask, model: "up/n" })
          assert.deepStrictEqual([other.status, await codeOf(other)], [403, "key_model"])
          const answer = await send("POST", "/v1/chat/completions", as, ask)
          const requestId = idOf(answer)
          const row = await gateway.usageRow(requestId)
          assert.deepStrictEqual([answer.status, row.apiKeyId, row.principal], [200, id, "key"])
          const noted = await audit(requestId)
          assert.match(noted.actor, /^session:[\da-f]{12}$/)
          assert.deepStrictEqual(
            [noted.action, noted.target, noted.status, noted.details.asKey, noted.details.apiKeyName],
            ["apiKey.actAs", id, "success", id, "tried"]
          )
          const models = (await (await send("GET", "/v1/models", as)).json()) as { data: ReadonlyArray<{ id: string }> }
          assert.isTrue(models.data.some((model) => model.id === "up/m"))
          assert.isFalse(models.data.some((model) => model.id === "up/n"))
          const statuses: Array<number> = []
          for (let count = 0; count < 4; count += 1) {
            statuses.push((await send("POST", "/v1/chat/completions", count % 2 === 0 ? as : bearer, ask)).status)
          }
          assert.strictEqual(statuses.at(-1), 429)
          assert.strictEqual(statuses.at(-2), 429)
          // Files of the key, which a session alone does not see.
          const form = new FormData()
          form.set("purpose", "batch")
          form.set("file", new Blob(["{}\n"]), "lines.jsonl")
          const made = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers: bearer, body: form })
          const file = (await made.json()) as { id: string }
          const listed = async (headers: Headers) =>
            ((await (await send("GET", "/v1/files", headers)).json()) as { data: ReadonlyArray<{ id: string }> }).data
          assert.deepStrictEqual(
            (await listed(as)).map((each) => each.id),
            [file.id]
          )
          assert.deepStrictEqual(await listed(own), [])
          assert.strictEqual((await send("GET", `/v1/files/${file.id}/content`, as)).status, 200)
          assert.strictEqual((await send("GET", `/v1/files/${file.id}/content`, own)).status, 404)
          const batch = await send("POST", "/v1/batches", as, {
            input_file_id: file.id,
            endpoint: "/v1/chat/completions",
            completion_window: "24h"
          })
          const { id: batchId } = (await batch.json()) as { id: string }
          assert.strictEqual(batch.status, 200)
          assert.strictEqual((await send("GET", `/v1/batches/${batchId}`, bearer)).status, 200)
          assert.strictEqual((await send("GET", `/v1/batches/${batchId}`, own)).status, 404)
        })
      })
  )

  it.scopedLive("spends the key's budget from the playground, and its presets are the key's", () =>
    Effect.gen(function* () {
      const { gateway, key, own, send, audit } = yield* setUp()
      yield* Effect.promise(async () => {
        const { bearer, id } = await key()
        const as = { ...own, "x-gateway-as-key": id }
        const compared = await send("POST", "/api/playground/compare", as, { models: ["up/m"], prompt: "x" })
        const requestId = /"requestId":"([^"]+)"/.exec(await compared.text())?.[1] ?? ""
        const row = await gateway.usageRow(requestId)
        assert.deepStrictEqual([row.apiKeyId, row.principal], [id, "key"])
        const preset = { name: "n", endpoint: "chat", model: "up/m" }
        const made = await send("POST", "/api/playground/presets", as, preset)
        const { preset: kept } = (await made.json()) as { preset: { id: string } }
        assert.strictEqual(made.status, 201)
        const noted = await audit(idOf(made))
        assert.match(noted.actor, /^session:/)
        assert.strictEqual(noted.details.asKey, id)
        assert.strictEqual((await send("DELETE", `/api/playground/presets/${kept.id}`, bearer)).status, 204)
        const entries = await gateway.manage("GET", "/api/compliance/audit-log?action=apiKey.actAs")
        assert.deepStrictEqual(
          entries.map((each: { target: string }) => each.target),
          [id]
        )
      })
    })
  )

  it.scopedLive("money is on the ledger of who asked: the key's as a key, nobody's as a session, by every way", () =>
    Effect.gen(function* () {
      const { gateway, key, own, send } = yield* setUp()
      yield* Effect.promise(async () => {
        await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1_000, output: 1_000 } } })
        const { bearer, id } = await key()
        const other = await key()
        for (const { id: apiKeyId } of [{ id }, other]) {
          await gateway.manage("POST", "/api/usage/budget", { apiKeyId, monthlyLimitUsd: 1_000_000 })
        }
        const spentUsd = async (apiKeyId: string): Promise<number> =>
          (await gateway.manage("GET", `/api/usage/budget?apiKeyId=${apiKeyId}`)).spentUsd
        const as = { ...own, "x-gateway-as-key": id }
        const chat = async (headers: Headers): Promise<number> => {
          const answer = await send("POST", "/v1/chat/completions", headers, ask)
          await answer.arrayBuffer()
          return (await gateway.usageRow(idOf(answer))).costUsd
        }
        const compare = async (headers: Headers): Promise<number> => {
          const compared = await send("POST", "/api/playground/compare", headers, { models: ["up/m"], prompt: "x" })
          return (await gateway.usageRow(/"requestId":"([^"]+)"/.exec(await compared.text())?.[1] ?? "")).costUsd
        }
        const ofSession = [await chat(own), await compare(own)]
        assert.isTrue(ofSession.every((usd) => usd > 0))
        assert.strictEqual(await spentUsd(id), 0)
        const ofKey = [await chat(bearer), await chat(as), await compare(as)]
        assert.closeTo(
          await spentUsd(id),
          ofKey.reduce((sum, usd) => sum + usd, 0),
          1e-6
        )
        assert.strictEqual(await spentUsd(other.id), 0)
      })
    })
  )

  it.scopedLive("a key that cannot be used, and one that is not there, are refused in the wire's form", () =>
    Effect.gen(function* () {
      const { gateway, key, own, send, upstream } = yield* setUp()
      yield* Effect.promise(async () => {
        const inactive = await key({ isActive: false })
        const expired = await key({ expiresAt: new Date(Date.now() + 60_000).toISOString() })
        await gateway.manage("PATCH", `/api/keys/${expired.id}`, { expiresAt: "2020-01-01T00:00:00.000Z" })
        for (const [id, status, code] of [
          [inactive.id, 401, "key_inactive"],
          [expired.id, 401, "key_expired"],
          ["nobody", 403, "as_key_unknown"],
          ["", 403, "as_key_unknown"]
        ] as const) {
          const as = { ...own, "x-gateway-as-key": id }
          const chat = await send("POST", "/v1/chat/completions", as, ask)
          assert.deepStrictEqual([chat.status, await codeOf(chat)], [status, code])
          const wire = await send("POST", "/v1/messages", as, { ...ask, max_tokens: 9 })
          const body = (await wire.json()) as { type: string; error: { type: string } }
          assert.deepStrictEqual([wire.status, body.type], [status, "error"])
          const listing = await send("GET", "/v1/models", as)
          assert.strictEqual(listing.status, status)
          await listing.body?.cancel()
          const compared = await send("POST", "/api/playground/compare", as, { models: ["up/m"], prompt: "x" })
          assert.deepStrictEqual([compared.status, await codeOf(compared)], [status, code])
        }
        assert.strictEqual(upstream.requests.length, 0)
        const entries = await gateway.manage("GET", "/api/compliance/audit-log?action=apiKey.actAs&status=failure")
        assert.strictEqual(entries.length, 16)
      })
    })
  )

  for (const keysRequired of [true, false]) {
    it.scopedLive(
      `is refused to every other caller and on every other route, where keys are required: ${keysRequired}`,
      () =>
        Effect.gen(function* () {
          const { cookie, csrf, gateway, key, own, page, send, upstream } = yield* setUp(keysRequired)
          yield* Effect.promise(async () => {
            const { id } = await key()
            const mine = await key()
            const manages = await key({ scopes: ["manage"] })
            const admin = { authorization: `Bearer ${TestGateway.adminKey}` }
            const callers: ReadonlyArray<Headers> = [
              {},
              mine.bearer,
              manages.bearer,
              admin,
              cookie,
              { ...cookie, ...csrf },
              { ...cookie, ...page },
              { ...own, ...mine.bearer }
            ]
            for (const caller of callers) {
              for (const [method, path, body] of doors) {
                const answer = await send(method, path, { ...caller, "x-gateway-as-key": id }, body)
                const label = `${method} ${path} ${JSON.stringify(caller)}: ${await answer.text()}`
                assert.include([401, 403], answer.status, label)
              }
            }
            for (const path of ["/api/keys", "/api/usage/logs", "/api/mcp/stream", "/api/settings"]) {
              for (const caller of [own, admin]) {
                const answer = await send("GET", path, { ...caller, "x-gateway-as-key": id })
                assert.include([401, 403, 404, 405], answer.status, path)
              }
            }
            const elsewhere = await send("GET", "/api/keys", { ...own, "x-gateway-as-key": id })
            assert.deepStrictEqual([elsewhere.status, await codeOf(elsewhere)], [403, "as_key_not_here"])
            assert.strictEqual(upstream.requests.length, 0)
            const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=100")
            assert.isFalse(logs.some((row: { apiKeyId: string | null }) => row.apiKeyId === id))
          })
        })
    )
  }
})
