/** The live feed of a running gateway: who may listen, what is told, and when a socket ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { eventually } from "../../support/eventually.ts"
import { type Client, open, refused } from "../ws/support.ts"

const adminPassword = "correct horse battery staple"
const bearer = { authorization: `Bearer ${TestGateway.adminKey}` }

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start({ adminPassword: Redacted.make(adminPassword) })
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello" })))
  yield* Effect.promise(() => gateway.connect("one", upstream, "chat"))
  const ask = async () => {
    const response = await gateway.post("/v1/chat/completions", {
      model: "one/m",
      messages: [{ role: "user", content: "Hi" }]
    })
    await response.arrayBuffer()
    return response.headers.get("x-gateway-request-id")
  }
  const logIn = async () => {
    const response = await gateway.post("/api/auth/login", { password: adminPassword })
    const { csrfToken } = JSON.parse(await response.text())
    const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
    return { cookie, "x-csrf-token": String(csrfToken) }
  }
  return { gateway, upstream, ask, logIn }
})

/** Status of the answer to an upgrade that is refused. */
const refusedWith = async (url: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  (await refused({ url }, path, headers)).status

const welcome = async (client: Client): Promise<void> => {
  const frame = await client.next()
  assert.strictEqual(frame.type, "welcome")
  assert.sameMembers(frame.channels, [
    "requests",
    "health",
    "quota",
    "budget",
    "combo",
    "stats",
    "config",
    "jobs",
    "attention"
  ])
  assert.isString(frame.sessionId)
}

/** The next frame of one of these events; frames of others are passed over. */
const nextOf = async (client: Client, ...events: ReadonlyArray<string>) => {
  for (;;) {
    const frame = await client.next()
    if (events.includes(frame.event)) return frame
  }
}

describe("the live feed", () => {
  it.scopedLive("tells requests and the health of providers to an admin key", () =>
    Effect.gen(function* () {
      const { ask, gateway, upstream } = yield* setUp
      const client = yield* open(gateway, "/api/live", bearer)
      yield* Effect.promise(async () => {
        await welcome(client)
        const requestId = await ask()
        const told = await nextOf(client, "request.completed")
        assert.deepInclude(told, { type: "event", channel: "requests", event: "request.completed" })
        assert.deepInclude(told.data, { trace_id: requestId, provider: "one", model: "m", status: 200 })
        upstream.always(Fake.json({ error: { message: "internal error" } }, { status: 500 }))
        await ask()
        const health = await nextOf(client, "provider.error")
        assert.deepInclude(health, { channel: "health", event: "provider.error" })
      })
    })
  )

  it.scopedLive("tells only the channels that were chosen, and answers pings", () =>
    Effect.gen(function* () {
      const { ask, gateway } = yield* setUp
      const client = yield* open(gateway, "/api/live", bearer)
      yield* Effect.promise(async () => {
        await welcome(client)
        client.send({ type: "subscribe", channels: ["budget", "quota"] })
        assert.deepStrictEqual(await client.next(), { type: "subscribed", channels: ["budget", "quota"] })
        await ask()
        client.send({ type: "ping" })
        assert.strictEqual((await client.next()).type, "pong")
        client.send({ type: "subscribe", channels: ["weather"] })
        const problem = await client.next()
        assert.strictEqual(problem.type, "error")
        assert.include(problem.message, "requests, health")
      })
    })
  )

  it.scopedLive("refuses callers without a credential of the management, and pages of other sites", () =>
    Effect.gen(function* () {
      const { gateway, logIn } = yield* setUp
      yield* Effect.promise(async () => {
        assert.strictEqual(await refusedWith(gateway.url, "/api/live"), 401)
        assert.strictEqual(await refusedWith(gateway.url, `/api/live?token=${TestGateway.adminKey}`), 401)
        const { secret } = await gateway.manage("POST", "/api/keys", { name: "client" })
        assert.strictEqual(await refusedWith(gateway.url, "/api/live", { authorization: `Bearer ${secret}` }), 403)
        const { cookie } = await logIn()
        assert.strictEqual(await refusedWith(gateway.url, "/api/live", { cookie, origin: "https://evil.example" }), 403)
        assert.strictEqual(await refusedWith(gateway.url, "/api/live", { cookie, origin: "null" }), 403)
      })
    })
  )

  it.scopedLive("ends with the session that opened it", () =>
    Effect.gen(function* () {
      const { gateway, logIn } = yield* setUp
      const session = yield* Effect.promise(logIn)
      const client = yield* open(gateway, "/api/live", { cookie: session.cookie, origin: gateway.url })
      yield* Effect.promise(async () => {
        await welcome(client)
        await gateway.post("/api/auth/logout", {}, session)
        assert.strictEqual((await client.closed).code, 1008)
      })
    })
  )

  it.scopedLive(
    "is described without an upgrade, and has no port of its own where the main port is not the usual one",
    () =>
      Effect.gen(function* () {
        const { gateway } = yield* setUp
        const described = yield* Effect.promise(() => gateway.manage("GET", "/api/live"))
        assert.deepInclude(described, { path: "/api/live", port: null, clients: 0 })
      })
  )

  it.scopedLive("has a port of its own where one is named, for pages of the main port too", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start({ livePort: 0, adminPassword: Redacted.make(adminPassword) })
      const { port } = yield* Effect.promise(() => gateway.manage("GET", "/api/live"))
      const own = { url: `http://127.0.0.1:${port}` }
      const client = yield* open(own, "/live", bearer)
      yield* Effect.promise(() => welcome(client))
      const login = yield* Effect.promise(() => gateway.post("/api/auth/login", { password: adminPassword }))
      const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
      const page = { cookie, origin: gateway.url, "sec-fetch-site": "same-site" }
      const ofPage = yield* open(own, "/live", page)
      yield* Effect.promise(async () => {
        await welcome(ofPage)
        assert.strictEqual(await refusedWith(own.url, "/live"), 401)
        assert.strictEqual(await refusedWith(own.url, "/live", { cookie, origin: "http://127.0.0.1:1" }), 403)
        assert.strictEqual(await refusedWith(own.url, "/elsewhere", bearer), 404)
        assert.strictEqual((await fetch(`${own.url}/live`)).status, 426)
      })
    })
  )

  it.scopedLive("goes on without a port of its own when it is taken, or switched off", () =>
    Effect.gen(function* () {
      const other = yield* Fake.start
      const taken = yield* TestGateway.start({ livePort: other.port })
      const off = yield* TestGateway.start({
        livePort: 0,
        environment: new Map([["GATEWAY_ENABLE_LIVE_WS", "false"]])
      })
      for (const gateway of [taken, off]) {
        assert.strictEqual((yield* Effect.promise(() => gateway.manage("GET", "/api/live"))).port, null)
        const client = yield* open(gateway, "/api/live", bearer)
        yield* Effect.promise(() => welcome(client))
      }
    })
  )

  it.scopedLive("counts its clients, and says goodbye when the gateway stops", () =>
    Effect.gen(function* () {
      const client = yield* Effect.scoped(
        Effect.gen(function* () {
          const gateway = yield* TestGateway.start()
          const client = yield* open(gateway, "/api/live", bearer)
          yield* Effect.promise(async () => {
            await welcome(client)
            await eventually(
              "one client",
              () => gateway.manage("GET", "/api/live"),
              ({ clients }) => clients === 1
            )
          })
          return client
        })
      )
      yield* Effect.promise(() => client.closed)
    })
  )
})
