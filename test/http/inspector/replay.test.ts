/** Captured requests asked again over HTTP: on all wires, whole and streamed, with every refusal, and with clients that leave. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request as httpRequest } from "node:http"
import * as Fake from "../../support/FakeUpstream.ts"
import { eventually, eventuallyFound } from "../../support/eventually.ts"
import { adminKey } from "../../support/TestGateway.ts"
import { type Answer, base, bearer, chatBody, start } from "./support.ts"

const setUp = Effect.gen(function* () {
  const inspector = yield* start()
  const upstream = yield* Fake.start
  upstream.always(async (response, request) => {
    const stream = (JSON.parse(request.body) as { stream?: boolean }).stream === true
    const answer = stream
      ? Fake.sse(Fake.chatStream(["Bon", "jour"]))
      : Fake.json(Fake.chatCompletion({ text: "Bonjour" }))
    await answer(response, request)
  })
  yield* Effect.promise(() => inspector.gateway.connect("up", upstream, "chat", { models: ["m", "m2"] }))
  const replay = (id: string, changes?: unknown, headers: Readonly<Record<string, string>> = bearer) =>
    inspector.ask("POST", `/requests/${id}/replay`, changes, headers)
  return { ...inspector, upstream, replay }
})

const messages = [{ role: "user", content: "Hi" }]
const contents = [{ role: "user", parts: [{ text: "Hi" }] }]

const forms: ReadonlyArray<readonly [wire: string, path: string, body: object, type: RegExp, holds: RegExp]> = [
  ["chat", "/v1/chat/completions", { model: "up/m", messages }, /json/, /"content":"Bonjour"/],
  ["chat", "/v1/chat/completions", { model: "up/m", messages, stream: true }, /event-stream/, /data: \[DONE\]\s*$/],
  ["messages", "/v1/messages", { model: "up/m", messages, max_tokens: 9 }, /json/, /"text":"Bonjour"/],
  [
    "messages",
    "/v1/messages",
    { model: "up/m", messages, max_tokens: 9, stream: true },
    /event-stream/,
    /event: message_stop/
  ],
  ["responses", "/v1/responses", { model: "up/m", input: "Hi" }, /json/, /"text":"Bonjour"/],
  ["responses", "/v1/responses", { model: "up/m", input: "Hi", stream: true }, /event-stream/, /response\.completed/],
  ["gemini", "/v1beta/models/up/m:generateContent", { contents }, /json/, /"text":"Bonjour"/],
  [
    "gemini",
    "/v1beta/models/up/m:streamGenerateContent?alt=sse",
    { contents },
    /event-stream/,
    /"finishReason":"STOP"/
  ],
  ["ollama", "/api/chat", { model: "up/m", messages, stream: false }, /json/, /"content":"Bonjour"/],
  ["ollama", "/api/chat", { model: "up/m", messages, stream: true }, /ndjson/, /"done":true/]
]

describe("a captured request, asked again", () => {
  it.scopedLive("counts for the limits of the key that asks, and needs its rights", () =>
    Effect.gen(function* () {
      const { captured, gateway, replay, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        const asked = { path: "/v1/chat/completions", requestBody: JSON.stringify({ model: "up/m", messages }) }
        const { id } = await captured(asked)
        const statuses = async (settings: object): Promise<ReadonlyArray<number>> => {
          const key = { name: "k", scopes: ["manage"], ...settings }
          const { secret } = await gateway.manage("POST", "/api/keys", key)
          const before = upstream.requests.length
          const all: Array<number> = []
          for (let turn = 0; turn < 3; turn += 1) {
            all.push((await replay(id, {}, { authorization: `Bearer ${secret}` })).status)
          }
          return [...all, upstream.requests.length - before]
        }
        assert.deepStrictEqual(await statuses({ maxRequestsPerMinute: 2 }), [200, 200, 429, 2])
        assert.deepStrictEqual(await statuses({ maxRequestsPerDay: 1 }), [200, 429, 429, 1])
        assert.deepStrictEqual(await statuses({ allowedModels: ["other/*"] }), [403, 403, 403, 0])
        // It is a chat, whatever else the key is for.
        assert.deepStrictEqual(await statuses({ allowedEndpoints: ["models"] }), [403, 403, 403, 0])
      })
    })
  )

  for (const [wire, path, body, type, holds] of forms) {
    it.scopedLive(`is answered in its wire: ${wire}, ${String(type)}`, () =>
      Effect.gen(function* () {
        const { captured, gateway, json, replay, upstream } = yield* setUp
        yield* Effect.promise(async () => {
          await captured({ path, requestBody: JSON.stringify(body) })
          const answer = await replay("r1")
          const text = await answer.text()
          assert.strictEqual(answer.status, 200, text)
          assert.match(answer.headers.get("content-type") ?? "", type)
          assert.match(text, holds)
          assert.strictEqual(answer.headers.get("x-gateway-replay-of"), "r1")
          assert.strictEqual(upstream.requests[0]?.headers.authorization, "Bearer upstream-key-of-up")
          const requestId = answer.headers.get("x-gateway-request-id") ?? ""
          assert.deepInclude(await gateway.usageRow(requestId), { status: 200, model: "m" })
          const { decision } = await gateway.manage("GET", `/api/routing/decisions/${requestId}`)
          assert.strictEqual(decision.requestId, requestId)
          const made = await eventuallyFound("the record of the replay", async () => {
            const { requests } = await json("GET", "/requests?source=gateway")
            return requests.find(({ status }: Answer) => status === 200)
          })
          assert.deepInclude(made, { replayOf: "r1", gatewayRequestId: requestId, path })
          assert.strictEqual((await json("GET", `/requests/${made.id}`)).responseBody, text)
        })
      })
    )
  }

  it.scopedLive("streams the answer as it comes", () =>
    Effect.gen(function* () {
      const { captured, replay, upstream } = yield* setUp
      const gate = Fake.makeLatch()
      const [role, first, ...rest] = Fake.chatStream(["Bon", "jour"])
      upstream.enqueue(Fake.sse([role ?? "", first ?? "", gate, ...rest]))
      yield* Effect.promise(async () => {
        await captured({ requestBody: JSON.stringify({ model: "up/m", messages, stream: true }) })
        const answer = await replay("r1", {})
        const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
        let text = ""
        while (!text.includes('"Bon"')) text += (await reader?.read())?.value ?? ""
        assert.notInclude(text, "[DONE]")
        gate.open()
        for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) text += piece.value
        assert.include(text, "[DONE]")
      })
    })
  )

  it.scopedLive("takes another body, model and headers, and no credential among them", () =>
    Effect.gen(function* () {
      const { captured, refused, replay, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        await captured({ requestBody: JSON.stringify({ model: "up/m", messages }) })
        const other = { model: "up/m2", headers: { "OpenAI-Beta": "x", Authorization: "Bearer another" } }
        assert.strictEqual((await replay("r1", other)).status, 200)
        assert.deepInclude(JSON.parse(upstream.requests[0]?.body ?? ""), { model: "m2", messages })
        assert.strictEqual(upstream.requests[0]?.headers["openai-beta"], "x")
        assert.strictEqual(upstream.requests[0]?.headers.authorization, "Bearer upstream-key-of-up")
        const body = { model: "up/m", messages: [{ role: "user", content: "Else" }] }
        assert.strictEqual((await replay("r1", { body })).status, 200)
        assert.include(upstream.requests[1]?.body ?? "", "Else")
        const wrong: ReadonlyArray<unknown> = [
          { body: "text" },
          { model: "" },
          { headers: { "a b": "x" } },
          { headers: { a: "x\r\ny" } },
          { stream: true },
          "[1]",
          "{"
        ]
        for (const changes of wrong) {
          const [status] = await refused("POST", "/requests/r1/replay", changes)
          assert.strictEqual(status, 400, JSON.stringify(changes))
        }
        assert.lengthOf(upstream.requests, 2)
      })
    })
  )

  it.scopedLive("is refused where it is none of a model, not whole, or gone", () =>
    Effect.gen(function* () {
      const { captured, refused, replay, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        const path = (id: string) => `/requests/${id}/replay`
        assert.deepStrictEqual(await refused("POST", path("none")), [404, "not_found"])
        await captured({ id: "other", path: "/v1/things", requestBody: '{"a":1}', host: "intern.example" })
        assert.deepStrictEqual(await refused("POST", path("other")), [422, "replay_not_llm"])
        await captured({ id: "cut", requestBody: chatBody("word ".repeat(300_000)), requestSize: 1_500_100 })
        assert.deepStrictEqual(await refused("POST", path("cut")), [409, "body_truncated"])
        const whole = await replay("cut", { body: { model: "up/m", messages } })
        assert.strictEqual(whole.status, 200, await whole.text())
        assert.lengthOf(upstream.requests, 1)
      })
    })
  )

  it.scopedLive("says 502 where no upstream answers, and refuses in the words of the wire", () =>
    Effect.gen(function* () {
      const { captured, replay, upstream } = yield* setUp
      upstream.always(Fake.resetBeforeHeaders())
      yield* Effect.promise(async () => {
        await captured({ requestBody: JSON.stringify({ model: "up/m", messages }) })
        const failed = await replay("r1")
        assert.strictEqual(failed.status, 502, await failed.text())
        assert.strictEqual(failed.headers.get("x-gateway-replay-of"), "r1")
        await captured({ id: "r2", path: "/v1/messages", requestBody: JSON.stringify({ model: "no/m", messages }) })
        const unknown = await replay("r2", { body: { model: "nobody/m", messages, max_tokens: 9 } })
        const told: Answer = await unknown.json()
        assert.deepStrictEqual([unknown.status, told.type], [404, "error"])
      })
    })
  )

  it.scopedLive("counts for the limits of the key that asks for it", () =>
    Effect.gen(function* () {
      const { captured, gateway, replay, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        await captured({ requestBody: JSON.stringify({ model: "up/m", messages }) })
        const given = { name: "k", scopes: ["manage"], allowedModels: ["up/m2"] }
        const { key, secret } = await gateway.manage("POST", "/api/keys", given)
        const own = { authorization: `Bearer ${secret}` }
        const refused = await replay("r1", {}, own)
        assert.strictEqual(refused.status, 403, await refused.text())
        assert.lengthOf(upstream.requests, 0)
        const answered = await replay("r1", { model: "up/m2" }, own)
        assert.strictEqual(answered.status, 200, await answered.text())
        const row = await gateway.usageRow(answered.headers.get("x-gateway-request-id") ?? "")
        assert.strictEqual(row.apiKeyId, key.id)
      })
    })
  )

  it.scopedLive("ends the call of the upstream when its client leaves", () =>
    Effect.gen(function* () {
      const { captured, gateway, json, upstream } = yield* setUp
      const [role, first] = Fake.chatStream(["Bon"])
      upstream.enqueue(Fake.silence([role ?? "", first ?? ""]))
      yield* Effect.promise(async () => {
        await captured({ requestBody: JSON.stringify({ model: "up/m", messages, stream: true }) })
        const leaving = new AbortController()
        const answer = await fetch(`${gateway.url}${base}/requests/r1/replay`, {
          method: "POST",
          headers: bearer,
          signal: leaving.signal
        })
        const requestId = answer.headers.get("x-gateway-request-id") ?? ""
        await answer.body?.getReader().read()
        leaving.abort()
        const left = await eventuallyFound("the record of the client that left", async () => {
          const { requests } = await json("GET", "/requests?source=gateway")
          return requests.find(({ status }: Answer) => status === "error")
        })
        assert.match(left.error, /client left/)
        assert.strictEqual(left.replayOf, "r1")
        assert.deepInclude(await gateway.usageRow(requestId), { outcome: "aborted" })
        await eventually(
          "a gateway without open streams",
          async () => (await fetch(`${gateway.url}/metrics`)).text(),
          (text) => text.includes("gateway_open_streams 0")
        )
      })
    })
  )

  it.scopedLive("cuts the answer where the upstream breaks in mid-stream", () =>
    Effect.gen(function* () {
      const { captured, replay, upstream } = yield* setUp
      const [role, first] = Fake.chatStream(["Bon"])
      const gate = Fake.makeLatch()
      upstream.enqueue(Fake.resetMidBody([role ?? "", first ?? "", gate]))
      yield* Effect.promise(async () => {
        await captured({ requestBody: JSON.stringify({ model: "up/m", messages, stream: true }) })
        const answer = await replay("r1")
        assert.strictEqual(answer.status, 200)
        const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
        let text = ""
        while (!text.includes('"Bon"')) text += (await reader?.read())?.value ?? ""
        gate.open()
        const rest = async () => {
          for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
            text += piece.value
        }
        await rest().catch(() => {})
        assert.notInclude(text, "[DONE]")
        assert.include(text, '"error"')
      })
    })
  )

  it.scopedLive("is recorded once, also while the gateway's own traffic is", () =>
    Effect.gen(function* () {
      const { captured, json, replay } = yield* setUp
      yield* Effect.promise(async () => {
        await json("POST", "/capture-modes/gateway", { enabled: true })
        await captured({ requestBody: JSON.stringify({ model: "up/m", messages }) })
        for (const count of [1, 2]) {
          await (await replay("r1")).text()
          const requests = await eventuallyFound(`${count} records of replays`, async () => {
            const page = await json("GET", "/requests?source=gateway")
            return page.requests.every(({ status }: Answer) => status === 200) && page.total >= count
              ? page.requests
              : undefined
          })
          assert.deepStrictEqual(
            requests.map(({ replayOf }: Answer) => replayOf),
            Array.from({ length: count }, () => "r1")
          )
        }
        // What was asked again can be asked again.
        const { requests } = await json("GET", "/requests?source=gateway")
        const answer = await replay(requests[0].id)
        assert.deepStrictEqual([answer.status, answer.headers.get("x-gateway-replay-of")], [200, requests[0].id])
      })
    })
  )

  it.scopedLive("is for direct connections of this machine, whatever key is given", () =>
    Effect.gen(function* () {
      const { captured, gateway, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        await captured({ requestBody: JSON.stringify({ model: "up/m", messages }) })
        const ask = (headers: Readonly<Record<string, string>>): Promise<readonly [number, string]> =>
          new Promise((resolve, reject) => {
            const { hostname, port } = new URL(gateway.url)
            const path = `${base}/requests/r1/replay`
            httpRequest({ hostname, port, path, method: "POST", headers }, (response) => {
              const pieces: Array<Buffer> = []
              response.on("data", (piece: Buffer) => pieces.push(piece))
              response.on("end", () => {
                const { error }: Answer = JSON.parse(Buffer.concat(pieces).toString())
                resolve([response.statusCode ?? 0, error.code])
              })
            })
              .on("error", reject)
              .end()
          })
        const authorization = `Bearer ${adminKey}`
        assert.deepStrictEqual(await ask({ "x-forwarded-for": "192.0.2.1" }), [403, "loopback_only"])
        assert.deepStrictEqual(await ask({ "x-forwarded-for": "192.0.2.1", authorization }), [403, "loopback_only"])
        assert.deepStrictEqual(await ask({ host: "gateway.example", authorization }), [403, "loopback_only"])
        assert.strictEqual((await ask({}))[0], 401)
        assert.lengthOf(upstream.requests, 0)
      })
    })
  )
})
