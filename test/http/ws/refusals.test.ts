/** Who may open a socket, what may be said on it, and how errors are told. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { connect as connectTcp } from "node:net"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "./support.ts"

const required = { environment: new Map([["REQUIRE_API_KEY", "true"]]) }
const paths = ["/v1/responses", "/responses", "/api/v1/responses"]

const setUp = (config: Parameters<typeof TestGateway.start>[0] = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const upstream = yield* Fake.start
    upstream.always(Fake.sse(Fake.chatStream(["Hello"])))
    yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
    return { gateway, upstream }
  })

describe("upgrades", () => {
  it.scopedLive("every spelling of the three paths is one socket; its head names it", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      for (const path of [...paths, "/V1//responses", "/v1/%72esponses/", "/v1/responses?api_key=anything"]) {
        const { opened } = yield* Ws.open(gateway, path)
        assert.match(String(opened.headers["x-gateway-request-id"]), /^[0-9a-f-]{36}$/)
        assert.isString(opened.headers["x-gateway-version"])
        assert.isUndefined(opened.headers["sec-websocket-extensions"])
      }
    })
  )

  it.scopedLive("other paths are 404, as JSON", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        for (const path of ["/", "/v1/chat/completions", "/v1/responses/extra", "/api/providers", "/v1/%2e%2e/x"]) {
          const answer = await Ws.refused(gateway, path)
          assert.strictEqual(answer.status, 404, path)
          assert.strictEqual(answer.body.error.type, "invalid_request_error")
          assert.isString(answer.headers["x-gateway-request-id"])
        }
      })
    })
  )

  it.scopedLive("an offer of HTTP/2 is ignored: the request is served as it is, wherever its body is cut", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp()
      upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
      const body = JSON.stringify({ model: "up/m", messages: [{ role: "user", content: "ü".repeat(70_000) }] })
      const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
      const bytes = Buffer.from(head + body)
      yield* Effect.promise(async () => {
        for (const cut of [head.length, head.length + 1, head.length + 90_001, bytes.length]) {
          const answer = await exchange(gateway.url, [bytes.subarray(0, cut), bytes.subarray(cut)])
          assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*served/)
        }
        assert.isTrue(upstream.requests.every(({ body: sent }) => sent.includes("ü".repeat(70_000))))
      })
    })
  )

  /** Two pieces on a bare socket, then the answer up to its text. */
  const exchange = (url: string, pieces: ReadonlyArray<Buffer>): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTcp(Number(new URL(url).port), "127.0.0.1")
      let text = ""
      socket.setNoDelay(true)
      socket.on("data", (chunk) => {
        text += chunk.toString()
        if (text.includes("}]") || text.includes('"error"')) {
          resolve(text)
          socket.destroy()
        }
      })
      socket.on("error", reject)
      const [first, second] = pieces
      socket.write(first ?? "", () => socket.write(second ?? ""))
    })

  it.scopedLive("the flag turns it off with 426", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp({ environment: new Map([["GATEWAY_UPSTREAM_WS_ENABLED", "false"]]) })
      yield* Effect.promise(async () => {
        for (const path of paths) assert.strictEqual((await Ws.refused(gateway, path)).status, 426)
      })
    })
  )

  it.scopedLive("keys: missing, wrong, expired, barred and good, wherever they stand", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp(required)
      const make = (more: object): Effect.Effect<string> =>
        Effect.promise(async () => {
          const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
          await gateway.manage("PUT", `/api/keys/${key.id}`, more)
          return secret
        })
      const expired = yield* make({ expiresAt: "2020-01-01T00:00:00Z" })
      const good = yield* make({ allowedModels: ["up/*"] })
      yield* Effect.promise(async () => {
        const missing = await Ws.refused(gateway)
        assert.strictEqual(missing.status, 401)
        assert.strictEqual(missing.body.error.code, "invalid_api_key")
        assert.strictEqual((await Ws.refused(gateway, "/v1/responses?key=nonsense")).status, 401)
        assert.strictEqual((await Ws.refused(gateway, "/v1/responses", { "x-api-key": expired })).status, 401)
      })
      for (const name of ["api_key", "token", "apiKey", "key"]) yield* Ws.open(gateway, `/v1/responses?${name}=${good}`)
      yield* Ws.open(gateway, "/v1/responses", { "x-api-key": good })
      const client = yield* Ws.open(gateway, "/v1/responses", { authorization: `Bearer ${good}` })
      yield* Effect.promise(async () => {
        client.send(Ws.create({ model: "other/m" }))
        assert.deepInclude((await client.turn()).at(-1), { type: "error", status: 403, code: "key_model" })
        client.send(Ws.create())
        assert.strictEqual((await client.turn()).at(-1).type, "response.completed")
        const { keys } = await gateway.manage("GET", "/api/keys")
        for (const { id } of keys) await gateway.manage("DELETE", `/api/keys/${id}`)
        client.send(Ws.create())
        assert.deepInclude((await client.turn()).at(-1), { type: "error", status: 401, code: "invalid_api_key" })
        assert.strictEqual(upstream.requests.length, 1)
      })
    })
  )

  it.scopedLive("without required keys a page of another site may not connect, with them a key is enough", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      const locked = (yield* setUp(required)).gateway
      const foreign = { origin: "https://evil.example", cookie: "gateway_session=anything" }
      const made = async (to: TestGateway.TestGateway) =>
        (await to.manage("POST", "/api/keys", { name: "k" })).secret as string
      const secret = yield* Effect.promise(async () => {
        const key = await made(gateway)
        for (const path of ["/v1/responses", "/v1/responses?api_key=made-up", `/v1/responses?api_key=${key}`]) {
          assert.strictEqual((await Ws.refused(gateway, path, foreign)).status, 403)
        }
        assert.strictEqual((await Ws.refused(gateway, "/v1/responses", { origin: "null" })).status, 403)
        return made(locked)
      })
      yield* Ws.open(gateway, "/v1/responses", { origin: gateway.url })
      yield* Ws.open(locked, `/v1/responses?api_key=${secret}`, foreign)
    })
  )
})

describe("bad frames", () => {
  const cases: Readonly<Record<string, readonly [frame: unknown, says: RegExp, param: string | null]>> = {
    "no JSON": ["{", /JSON/, null],
    "an array": [[], /object/, null],
    "no type": [{ model: "up/m" }, /type/, "type"],
    "another type": [{ type: "session.update" }, /response\.create/, "type"],
    "no model": [Ws.create({ model: undefined }), /model/, "model"],
    "no model for a warm-up": [Ws.create({ model: 5, generate: false }), /model/, "model"],
    "no input": [Ws.create({ input: undefined }), /input/, "input"],
    "input that is no list": [Ws.create({ input: 7 }), /input/, "input"],
    "a lane that is a number": [Ws.create({ stream_id: 3 }), /stream_id/, "stream_id"],
    "nothing to cancel": [{ type: "response.cancel" }, /no response/, null]
  }
  for (const [name, [frame, says, param]] of Object.entries(cases)) {
    it.scopedLive(`${name}: an error frame, and the socket goes on`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = yield* setUp()
        const client = yield* Ws.open(gateway)
        yield* Effect.promise(async () => {
          client.send(frame)
          const error = await client.next()
          assert.deepInclude(error, { type: "error", status: 400 })
          assert.deepInclude(error.error, { type: "invalid_request_error", param })
          assert.match(error.error.message, says)
          assert.strictEqual(upstream.requests.length, 0)
          client.send(Ws.create())
          assert.strictEqual((await client.turn()).at(-1).type, "response.completed")
        })
      })
    )
  }

  it.scopedLive("a binary frame is an error and the end", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      const client = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        client.socket.send(Buffer.from("{}"), { binary: true })
        assert.strictEqual((await client.next()).status, 400)
        assert.strictEqual((await client.closed).code, 1003)
      })
    })
  )

  it.scopedLive("a frame over the limit ends the socket, a conversation over it only the request", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp({ maxBodyBytes: 20_000 })
      const client = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        client.send(Ws.create({ input: "x".repeat(12_000) }))
        const { response } = (await client.turn()).at(-1)
        client.send(Ws.create({ previous_response_id: response.id, input: "x".repeat(12_000) }))
        assert.deepInclude((await client.turn()).at(-1), { type: "error", status: 413, code: "request_too_large" })
        assert.strictEqual(upstream.requests.length, 1)
        client.send(Ws.create({ input: "x".repeat(30_000) }))
        assert.strictEqual((await client.closed).code, 1009)
      })
    })
  )
})

describe("failures", () => {
  it.scopedLive("a model that is not served has the transport's own code", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      const client = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        for (const model of ["nobody/m", "openai/gpt-4o", "no-such-bare-model"]) {
          client.send(Ws.create({ model }))
          const error = (await client.turn()).at(-1)
          assert.deepInclude(error, { type: "error", status: 400, code: "upstream_ws_provider_required" })
          assert.deepInclude(error.error, { code: "upstream_ws_provider_required", param: "model" })
          assert.include(error.error.message, model)
        }
      })
    })
  )

  it.scopedLive("an upstream's refusal keeps its status, words and time to wait", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp()
      const client = yield* Ws.open(gateway)
      upstream.enqueue(
        Fake.json(Fake.errorBody("chat", "no such model here"), { status: 404 }),
        Fake.json(Fake.errorBody("chat", "slow down"), { status: 429, headers: { "retry-after": "7" } })
      )
      yield* Effect.promise(async () => {
        client.send(Ws.create())
        const missing = (await client.turn()).at(-1)
        assert.strictEqual(missing.status, 404)
        assert.notStrictEqual(missing.code, "upstream_ws_provider_required")
        client.send(Ws.create())
        const limited = (await client.turn()).at(-1)
        assert.deepInclude(limited, { type: "error", status: 429 })
        assert.strictEqual(limited.headers["retry-after"], "7")
        assert.isString(limited.headers["x-gateway-request-id"])
        assert.include(limited.error.message, "slow down")
      })
    })
  )

  it.scopedLive("an upstream that hangs up is a bad gateway", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp()
      const client = yield* Ws.open(gateway)
      upstream.enqueue(Fake.resetBeforeHeaders())
      yield* Effect.promise(async () => {
        client.send(Ws.create())
        assert.strictEqual((await client.turn()).at(-1).status, 502)
      })
    })
  )

  for (const wire of ["chat", "responses"] as const) {
    it.scopedLive(`an answer of a ${wire} upstream that breaks off ends in an error with a status`, () =>
      Effect.gen(function* () {
        const { gateway } = yield* setUp()
        const upstream = yield* Fake.start
        yield* Effect.promise(() => Ws.connect(gateway, "cut", upstream, wire))
        const whole = Ws.stream(wire, "resp_cut", Ws.said(0, "one ", "two ", "three"))
        upstream.enqueue(Fake.cutOff([whole.slice(0, whole.indexOf("three"))]))
        const client = yield* Ws.open(gateway)
        yield* Effect.promise(async () => {
          client.send(Ws.create({ model: "cut/m" }))
          const frames = await client.turn()
          assert.isTrue(frames.some(({ type }) => type === "response.output_text.delta"))
          assert.deepInclude(frames.at(-1), { type: "error", status: 502 })
          // What broke off is no part of a conversation: its id is not known here, and goes on as it came.
          upstream.always(Fake.sse([Ws.stream(wire, "resp_next", Ws.said(0, "x"))]))
          client.send(Ws.create({ model: "cut/m", previous_response_id: "resp_cut" }))
          await client.turn()
          for (const { body } of upstream.requests) assert.notInclude(body, "one two")
        })
      })
    )
  }
})
