/** Requests that come through a tunnel, on its own listener: nothing of them counts as made on this machine, whatever their headers say. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { request as httpRequest } from "node:http"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import { routes } from "../../../src/contract/Routes.ts"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as FakeTunnels from "../../support/FakeTunnels.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as Ws from "../ws/support.ts"

const adminPassword = "correct horse battery staple"
const admin = { authorization: `Bearer ${TestGateway.adminKey}` }
const json = { "content-type": "application/json" }
const chatPath = "/v1/chat/completions"
const chatBody = (more: object = {}) =>
  JSON.stringify({ model: "up/m", messages: [{ role: "user", content: "Hi" }], ...more })

/** What a client behind a tunnel may write, to pass for a program of this machine. */
const forged: ReadonlyArray<Readonly<Record<string, string>>> = [
  {},
  { host: "localhost" },
  { host: "127.0.0.1:20128" },
  { host: "[::1]", "x-forwarded-for": "127.0.0.1" },
  { host: "localhost", "x-forwarded-for": "127.0.0.1", forwarded: "for=127.0.0.1;host=localhost;proto=http" },
  { host: "localhost", via: "1.1 localhost", "x-real-ip": "::1", "x-forwarded-host": "localhost" },
  { host: FakeTunnels.publicHost, "x-forwarded-proto": "https", "cf-connecting-ip": "127.0.0.1" }
]

interface SetUp {
  readonly keys?: boolean
  readonly drainMs?: number
  readonly allowKeyless?: boolean
}

/** A gateway with an open tunnel; `outside` is the tunnel's listener. */
const setUp = ({ allowKeyless = false, drainMs, keys = true }: SetUp = {}) =>
  Effect.gen(function* () {
    const tunnels = FakeTunnels.make()
    const dataDir = yield* temporaryFolder
    const scope = yield* Effect.acquireRelease(Scope.make(), Scope.close)
    const gateway = yield* Scope.extend(
      TestGateway.start(
        {
          dataDir,
          adminPassword: Redacted.make(adminPassword),
          environment: new Map([
            ["REQUIRE_API_KEY", String(keys)],
            ["GATEWAY_UPSTREAM_WS_ENABLED", "true"]
          ]),
          ...(drainMs === undefined ? {} : { drainMs })
        },
        tunnels
      ),
      scope
    )
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
    const { apiKey, outside } = yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat")
      const { secret } = await gateway.manage("POST", "/api/keys", { name: "of a client" })
      const { targetUrl } = await gateway.manage("POST", "/api/tunnels/quick", { action: "enable", allowKeyless })
      return { apiKey: { authorization: `Bearer ${secret}` }, outside: { url: String(targetUrl) } }
    })
    const ask = (method: string, path: string, headers: Readonly<Record<string, string>> = {}, body = "") =>
      RawRequest.ask(outside.url, { method, path, headers, body })
    const chat = (headers: Readonly<Record<string, string>>, more: object = {}) =>
      ask("POST", chatPath, { ...json, ...headers }, chatBody(more))
    return { apiKey, ask, chat, gateway, outside, stop: Scope.close(scope, Exit.void), tunnels, upstream }
  })

/** As a tunnel's program hands a request on. */
const byName = { host: FakeTunnels.publicHost, "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" }

const codeOf = (answer: RawRequest.RawAnswer): unknown => JSON.parse(answer.body).error.code

/** A request that can be watched as its answer comes. */
const watched = (url: string, path: string, headers: Readonly<Record<string, string>>, body: string) =>
  new Promise<{ readonly status: number; readonly text: () => string; readonly ended: Promise<boolean> }>(
    (resolve, reject) => {
      const asked = httpRequest(
        { host: "127.0.0.1", port: new URL(url).port, method: "POST", path, headers },
        (response) => {
          let text = ""
          response.setEncoding("utf8")
          response.on("data", (piece: string) => (text += piece))
          resolve({
            status: response.statusCode ?? 0,
            text: () => text,
            ended: new Promise((done) => {
              response.on("end", () => done(true))
              response.on("error", () => done(false))
            })
          })
        }
      )
      asked.on("error", reject)
      asked.end(body)
    }
  )

describe("through a tunnel, while keys are required", () => {
  it.scopedLive(
    "every route for this machine or its owner answers 403 to the admin key, whatever the headers say",
    () =>
      Effect.gen(function* () {
        const { ask, gateway } = yield* setUp()
        const closed = managementRoutes.filter(({ tier }) => ["local", "loopback", "owner"].includes(tier))
        assert.isAbove(closed.length, 4)
        yield* Effect.promise(async () => {
          for (const { method, path, tier } of closed) {
            for (const headers of forged) {
              const at = path.replaceAll(/:\w+/g, "claude")
              const answer = await ask(method, at, { ...admin, ...json, ...headers }, method === "GET" ? "" : "{}")
              const why = `${method} ${path} ${JSON.stringify(headers)}: ${answer.body}`
              assert.strictEqual(answer.status, 403, why)
              assert.strictEqual(codeOf(answer), tier === "owner" ? "owner_only" : "loopback_only", why)
            }
          }
          // The same route and key, without the tunnel.
          const local = await fetch(`${gateway.url}/api/cli-tools/claude-settings`, { headers: admin })
          assert.notStrictEqual(local.status, 403)
        })
      })
  )

  it.scopedLive("metrics, inference and management need a key, whatever the headers say", () =>
    Effect.gen(function* () {
      const { apiKey, ask, chat, gateway, upstream } = yield* setUp()
      yield* Effect.promise(async () => {
        assert.strictEqual((await fetch(`${gateway.url}/metrics`)).status, 200)
        for (const headers of forged) {
          const why = JSON.stringify(headers)
          assert.strictEqual((await ask("GET", "/metrics", headers)).status, 401, why)
          assert.strictEqual((await ask("GET", "/api/keys", headers)).status, 401, why)
          assert.strictEqual((await ask("GET", "/v1/models", headers)).status, 401, why)
          assert.strictEqual((await chat(headers)).status, 401, why)
        }
        assert.strictEqual(upstream.requests.length, 0)
        assert.strictEqual((await ask("GET", "/metrics", apiKey)).status, 403)
        assert.strictEqual((await ask("GET", "/metrics", admin)).status, 200)
        assert.strictEqual((await ask("GET", "/api/keys", apiKey)).status, 403)
        assert.strictEqual((await ask("GET", "/api/keys", admin)).status, 200)
        assert.strictEqual((await chat(apiKey)).status, 200)
      })
    })
  )

  it.scopedLive("opening and closing tunnels needs management rights; a password of this machine is not taken", () =>
    Effect.gen(function* () {
      const { apiKey, ask, tunnels } = yield* setUp()
      const set = (path: string, headers: Readonly<Record<string, string>>, body: object) =>
        ask("POST", `/api/tunnels/${path}`, { ...json, ...headers }, JSON.stringify(body))
      yield* Effect.promise(async () => {
        assert.strictEqual((await set("token", apiKey, { action: "enable" })).status, 403)
        assert.strictEqual((await set("token", admin, { action: "enable" })).status, 200)
        assert.strictEqual((await set("mesh/enable", admin, {})).status, 200)
        const before = tunnels.enabled.length
        for (const headers of forged) {
          for (const what of ["enable", "disable", "install", "start-daemon"]) {
            const answer = await set(`mesh/${what}`, { ...admin, ...headers }, { sudoPassword: "of-this-machine" })
            assert.deepStrictEqual([answer.status, codeOf(answer)], [403, "loopback_only"], what)
            assert.notInclude(answer.body, "of-this-machine")
          }
        }
        assert.strictEqual(tunnels.enabled.length, before)
        assert.deepStrictEqual(tunnels.given, [])
      })
    })
  )

  it.scopedLive(
    "the audit log and the login lock list call its clients 'tunnel', and a lock is not that of this machine",
    () =>
      Effect.gen(function* () {
        const { ask, gateway } = yield* setUp()
        const logIn = (password: string) =>
          ask("POST", "/api/auth/login", { ...json, "x-forwarded-for": "203.0.113.7" }, JSON.stringify({ password }))
        yield* Effect.promise(async () => {
          await ask(
            "POST",
            "/api/keys",
            { ...admin, ...json, "x-forwarded-for": "127.0.0.1" },
            '{"name":"made outside"}'
          )
          const statuses: Array<number> = []
          for (let tries = 0; tries < 9; tries += 1) statuses.push((await logIn("wrong")).status)
          assert.deepStrictEqual([statuses[0], statuses.at(-1)], [401, 429])
          assert.deepStrictEqual((await gateway.manage("GET", "/api/policies")).lockedIdentifiers, ["tunnel"])
          const local = await gateway.post("/api/auth/login", { password: adminPassword })
          assert.strictEqual(local.status, 200)
          const rows: ReadonlyArray<{ readonly action: string; readonly ip: string }> = await gateway.manage(
            "GET",
            "/api/compliance/audit-log?limit=50"
          )
          const ips = (action: string) => new Set(rows.filter((row) => row.action === action).map(({ ip }) => ip))
          assert.deepStrictEqual([...ips("auth.login.failed")], ["tunnel"])
          assert.deepStrictEqual([...ips("auth.login.success")], ["127.0.0.1"])
          assert.isTrue(ips("keys.create").has("tunnel"))
        })
      })
  )

  it.scopedLive("an IP filter and a key's list of addresses do not take it for this machine", () =>
    Effect.gen(function* () {
      const { ask, chat, gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        const { secret } = await gateway.manage("POST", "/api/keys", {
          name: "local",
          ipAllowlist: ["127.0.0.0/8", "::1"]
        })
        const key = { authorization: `Bearer ${secret}` }
        for (const headers of forged) {
          const answer = await chat({ ...key, ...headers })
          assert.deepStrictEqual([answer.status, codeOf(answer)], [403, "key_ip"], JSON.stringify(headers))
        }
        assert.strictEqual((await gateway.post(chatPath, JSON.parse(chatBody()), key)).status, 200)
        for (const settings of [
          { enabled: true, mode: "whitelist", whitelist: ["127.0.0.0/8"] },
          { enabled: true, mode: "blacklist", blacklist: ["203.0.113.7"] }
        ]) {
          await gateway.manage("PUT", "/api/settings/ip-filter", settings)
          for (const headers of forged) {
            const answer = await ask("GET", "/v1/models", { ...admin, ...headers })
            assert.deepStrictEqual([answer.status, codeOf(answer)], [403, "ip_filtered"], JSON.stringify(headers))
          }
        }
      })
    })
  )

  it.scopedLive("a stream comes event by event, and both WebSockets work with a key", () =>
    Effect.gen(function* () {
      const { apiKey, outside, upstream } = yield* setUp()
      const latch = Fake.makeLatch()
      const [head = "", ...rest] = Fake.chatStream(["first word", " last word"])
      upstream.enqueue(Fake.sse([head, rest[0] ?? "", latch, ...rest.slice(1)]))
      yield* Effect.promise(async () => {
        const stream = await watched(outside.url, chatPath, { ...json, ...apiKey }, chatBody({ stream: true }))
        assert.strictEqual(stream.status, 200)
        await eventually("the first event", stream.text, (text) => text.includes("first word"))
        assert.notInclude(stream.text(), "last word")
        latch.open()
        assert.isTrue(await stream.ended)
        assert.include(stream.text(), "last word")
        assert.strictEqual((await Ws.refused(outside)).status, 401)
        assert.strictEqual((await Ws.refused(outside, "/api/live", { host: "localhost" })).status, 401)
        assert.strictEqual((await Ws.refused(outside, "/api/live", apiKey)).status, 403)
      })
      upstream.enqueue(Fake.sse(Fake.chatStream(["over the socket"])))
      const socket = yield* Ws.open(outside, "/v1/responses", apiKey)
      const live = yield* Ws.open(outside, "/api/live", admin)
      yield* Effect.promise(async () => {
        socket.send({ type: "response.create", model: "up/m", input: "Hi" })
        const frames = await socket.turn()
        assert.include(JSON.stringify(frames), "over the socket")
        assert.strictEqual((await live.next()).type, "welcome")
      })
    })
  )
})

describe("through a tunnel, while no key is required", () => {
  const keyless = { keys: false, allowKeyless: true }

  it.scopedLive("every route refuses every request, in its own wire and before the body has come", () =>
    Effect.gen(function* () {
      const { ask, chat, gateway, outside, tunnels, upstream } = yield* setUp(keyless)
      // As one that was opened while keys were required.
      tunnels.forbidKeyless()
      yield* Effect.promise(async () => {
        const paths = routes.map(({ method, path, tier }) => [method, path.replaceAll(/:\w+/g, "x"), tier] as const)
        for (const [method, path, tier] of [...paths, ["GET", "/no/such/route", "public"] as const]) {
          // Routes of this machine refuse others before anything else is judged.
          const isLocal = ["local", "loopback", "ingest"].includes(tier)
          for (const headers of forged) {
            const answer = await ask(method, path, { ...admin, ...headers })
            const why = `${method} ${path} ${JSON.stringify(headers)}: ${answer.body}`
            assert.strictEqual(answer.status, 403, why)
            assert.match(answer.body, isLocal ? /loopback_only/ : /REQUIRE_API_KEY/, why)
          }
        }
        assert.strictEqual(codeOf(await chat({ host: "localhost" })), "keys_required")
        const announced = { ...json, "content-length": "1000000" }
        const messages = await new Promise<string>((resolve, reject) => {
          const { port } = new URL(outside.url)
          const asked = httpRequest({
            host: "127.0.0.1",
            port,
            method: "POST",
            path: "/v1/messages",
            headers: announced
          })
          asked.on("response", (response) => {
            response.setEncoding("utf8")
            response.once("data", (text: string) => {
              resolve(text)
              asked.destroy()
            })
          })
          asked.on("error", reject)
          asked.flushHeaders()
        })
        const { error, type } = JSON.parse(messages)
        assert.deepStrictEqual([type, error.type], ["error", "permission_error"])
        const gemini = await ask("POST", "/v1beta/models/up%2Fm:generateContent", json, "{}")
        assert.strictEqual(codeOf(gemini), 403)
        assert.strictEqual((await Ws.refused(outside)).status, 403)
        assert.strictEqual((await Ws.refused(outside, "/api/live", admin)).status, 403)
        assert.strictEqual(upstream.requests.length, 0)
        // This machine's own requests are served as before.
        assert.strictEqual((await gateway.post(chatPath, JSON.parse(chatBody()))).status, 200)
      })
    })
  )

  it.scopedLive(
    "a tunnel is opened with allowKeyless only, and answers to its public name there and nowhere else",
    () =>
      Effect.gen(function* () {
        const { ask, chat, gateway, outside, tunnels, upstream } = yield* setUp(keyless)
        yield* Effect.promise(async () => {
          for (const [path, body] of [
            ["quick", { action: "enable" }],
            ["token", { action: "enable", allowKeyless: false }],
            ["ssh", { action: "enable", destination: "me@server.example" }],
            ["mesh/enable", {}]
          ] as const) {
            const answer = await gateway.post(`/api/tunnels/${path}`, body, admin)
            const { error } = JSON.parse(await answer.text())
            assert.deepStrictEqual([answer.status, error.code], [409, "keys_required"], path)
            assert.match(error.message, /REQUIRE_API_KEY=true.*allowKeyless/)
          }
          assert.strictEqual((await chat(byName)).status, 200)
          assert.strictEqual((await chat({ ...byName, host: FakeTunnels.publicHost.toUpperCase() })).status, 200)
          for (const host of ["other.tunnel.example", "localhost", "127.0.0.1:20128"]) {
            assert.strictEqual(codeOf(await chat({ ...byName, host })), "host_not_allowed", host)
          }
          assert.strictEqual(codeOf(await chat({ ...byName, origin: "https://evil.example" })), "cross_site_request")
          // Without a key still nothing but inference.
          assert.strictEqual((await ask("GET", "/metrics", byName)).status, 401)
          assert.strictEqual((await ask("GET", "/api/keys", byName)).status, 401)
          const main = await RawRequest.ask(gateway.url, { method: "GET", path: "/v1/models", headers: byName })
          assert.strictEqual(codeOf(main), "host_not_allowed")
        })
        upstream.enqueue(Fake.sse(Fake.chatStream(["one"])), Fake.sse(Fake.chatStream(["two"])))
        const socket = yield* Ws.open(outside, "/v1/responses", byName)
        yield* Effect.promise(async () => {
          socket.send({ type: "response.create", model: "up/m", input: "Hi" })
          assert.include(JSON.stringify(await socket.turn()), "one")
          tunnels.forbidKeyless()
          socket.send({ type: "response.create", model: "up/m", input: "Hi" })
          const refusal = JSON.stringify(await socket.turn())
          assert.include(refusal, "keys_required")
          assert.notInclude(refusal, "two")
        })
      })
  )
})

describe("the end of a tunnel's listener", () => {
  const streaming = (open: Effect.Effect.Success<ReturnType<typeof setUp>>) => {
    const latch = Fake.makeLatch()
    const [head = "", ...rest] = Fake.chatStream(["first word", " last word"])
    open.upstream.enqueue(Fake.sse([head, rest[0] ?? "", latch, ...rest.slice(1)]))
    return {
      latch,
      started: watched(open.outside.url, chatPath, { ...json, ...open.apiKey }, chatBody({ stream: true }))
    }
  }
  /** Whether somebody listens at the address of the tunnel. */
  const isOpen = (url: string) =>
    fetch(url).then(
      () => true,
      () => false
    )

  it.scopedLive("a closed tunnel takes no further connection, and what runs is answered to its end", () =>
    Effect.gen(function* () {
      const open = yield* setUp()
      yield* Effect.promise(async () => {
        const { latch, started } = streaming(open)
        const stream = await started
        await eventually("the first event", stream.text, (text) => text.includes("first word"))
        const closing = open.gateway.manage("POST", "/api/tunnels/quick", { action: "disable" })
        await eventually(
          "the listener to close",
          () => isOpen(open.outside.url),
          (is) => !is
        )
        latch.open()
        assert.isTrue(await stream.ended)
        assert.include(stream.text(), "[DONE]")
        assert.strictEqual((await closing).phase, "stopped")
        // Opened again, it is another listener.
        const { targetUrl } = await open.gateway.manage("POST", "/api/tunnels/quick", { action: "enable" })
        assert.isTrue(await isOpen(targetUrl))
      })
    })
  )

  it.scopedLive("one that does not end is cut after the drain time, sockets too", () =>
    Effect.gen(function* () {
      const open = yield* setUp({ drainMs: 0 })
      const live = yield* Ws.open(open.outside, "/api/live", admin)
      yield* Effect.promise(async () => {
        const stream = await streaming(open).started
        await open.gateway.manage("POST", "/api/tunnels/quick", { action: "disable" })
        assert.isFalse(await stream.ended)
        await live.closed
      })
    })
  )

  it.scopedLive("a second tunnel shares it, and it stays while one of them is open", () =>
    Effect.gen(function* () {
      const { gateway, outside } = yield* setUp()
      const set = (backend: string, action: string) => gateway.manage("POST", `/api/tunnels/${backend}`, { action })
      yield* Effect.promise(async () => {
        assert.strictEqual((await set("token", "enable")).targetUrl, outside.url)
        await set("quick", "disable")
        assert.isTrue(await isOpen(outside.url))
        await set("token", "disable")
        assert.isFalse(await isOpen(outside.url))
      })
    })
  )

  it.scopedLive("who closes the tunnel through itself has the answer first", () =>
    Effect.gen(function* () {
      const { ask, outside } = yield* setUp()
      yield* Effect.promise(async () => {
        const answer = await ask("POST", "/api/tunnels/quick", { ...admin, ...json }, '{"action":"disable"}')
        assert.strictEqual(answer.status, 200)
        assert.deepInclude(JSON.parse(answer.body), { phase: "stopped", running: false, targetUrl: null })
        await eventually(
          "the listener to close",
          () => isOpen(outside.url),
          (is) => !is
        )
      })
    })
  )

  it.scopedLive("a stop of the gateway waits for what runs through a tunnel", () =>
    Effect.gen(function* () {
      const open = yield* setUp()
      const { latch, started } = streaming(open)
      const stream = yield* Effect.promise(() => started)
      const stopping = yield* Effect.fork(open.stop)
      yield* Effect.promise(async () => {
        await eventually(
          "the listener to close",
          () => isOpen(open.outside.url),
          (is) => !is
        )
        assert.notInclude(stream.text(), "[DONE]")
        latch.open()
        assert.isTrue(await stream.ended)
        assert.include(stream.text(), "[DONE]")
      })
      yield* Fiber.join(stopping)
    })
  )
})
