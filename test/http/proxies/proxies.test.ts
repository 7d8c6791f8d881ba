/** By which way calls leave: through real proxies, and never past one that fails. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import { proxies, world } from "./world.ts"

describe("calls", () => {
  it.scopedLive("go by the proxy of the key, the connection, the provider, of all, or direct", () =>
    Effect.gen(function* () {
      const { add, assign, connection, gateway, goes, startProxy, upstream } = yield* world()
      const { key, secret } = yield* Effect.promise(() => gateway.manage("POST", "/api/keys", { name: "laptop" }))
      const scopes = [
        ["global", null],
        ["provider", "up"],
        ["connection", connection.id],
        ["key", String(key.id)]
      ] as const
      yield* goes("direct")
      const withKey = { authorization: `Bearer ${secret}` }
      for (const [scope, scopeId] of scopes) {
        const proxy = yield* startProxy
        const id = yield* add(scope, proxy, { username: "alice", password: "p@ss:w%rd" })
        yield* assign(scope, scopeId, id)
        const { requestId } = yield* goes(scope, withKey)
        assert.deepStrictEqual(proxy.asked.at(-1), new URL(upstream.origin).host)
        const login = Buffer.from("alice:p@ss:w%rd").toString("base64")
        assert.strictEqual(proxy.credentials.at(-1), `Basic ${login}`)
        assert.strictEqual((yield* Effect.promise(() => gateway.usageRow(requestId))).egress, scope)
      }
      // Other callers have no proxy of that key.
      yield* goes("connection")
      yield* Effect.promise(() => gateway.manage("PUT", `/api/providers/${connection.id}`, { proxyEnabled: false }))
      yield* goes("direct", withKey)
      yield* Effect.promise(() => gateway.manage("PUT", `/api/providers/${connection.id}`, { proxyEnabled: true }))
      // The switch is that of the proxy of all calls: nobody with a proxy of his own leaves by another address.
      yield* Effect.promise(() => gateway.manage("PUT", "/api/settings/proxy", { enabled: false, proxyId: null }))
      yield* goes("key", withKey)
      for (const [scope, scopeId] of scopes.toReversed().slice(0, 3)) {
        yield* goes(scope, withKey)
        yield* assign(scope, scopeId, null)
      }
      yield* assign("global", null, yield* add("again", yield* startProxy))
      yield* goes("direct", withKey)
      yield* Effect.promise(() => gateway.manage("PUT", "/api/settings/proxy", { enabled: true }))
      yield* goes("again", withKey)
    })
  )

  it.scopedLive(
    "of a new connection go by the proxy named with it, from its check and its first list of models on",
    () =>
      Effect.gen(function* () {
        const { add, gateway, goes, startProxy, upstream, connection } = yield* world()
        const proxy = yield* startProxy
        const proxyId = yield* add("office", proxy)
        const seen = (): number => upstream.listRequests.length + upstream.requests.length
        const validate = (more: unknown) =>
          Effect.promise(() =>
            gateway.manage("POST", "/api/providers/validate", {
              provider: "up",
              apiKey: "sk-candidate",
              ...Object(more)
            })
          )
        assert.strictEqual((yield* validate({})).valid, true)
        assert.lengthOf(proxy.asked, 0)
        assert.strictEqual((yield* validate({ proxyId })).valid, true)
        assert.isAtLeast(proxy.asked.length, 1)

        yield* Effect.promise(() => gateway.manage("DELETE", `/api/providers/${connection.id}`))
        const dead = yield* add("dead", { port: 1 })
        const before = seen()
        const body = { provider: "up", apiKey: "sk-candidate", proxyId: dead }
        const made = yield* Effect.promise(() => gateway.manage("POST", "/api/providers", body))
        const path = `/api/providers/${made.connection.id}`
        const tested = yield* Effect.promise(() => gateway.manage("POST", `${path}/test`))
        assert.deepStrictEqual([tested.ok, seen()], [false, before])
        yield* Effect.promise(() => gateway.manage("PUT", path, { proxyId }))
        assert.strictEqual((yield* Effect.promise(() => gateway.manage("POST", `${path}/test`))).ok, true)
        yield* goes("office")
      })
  )

  it.scopedLive("fail when their proxy is not active, refuses, is down or was removed, and never go direct", () =>
    Effect.gen(function* () {
      const { add, assign, fails, gateway, goes, startProxy } = yield* world()
      const proxy = yield* startProxy
      const id = yield* add("office", proxy)
      yield* assign("global", null, id)
      yield* goes("office")
      const set = (body: unknown) => Effect.promise(() => gateway.manage("PATCH", proxies, body))
      yield* set({ id, isActive: false })
      const { requestId } = yield* fails()
      assert.strictEqual((yield* Effect.promise(() => gateway.usageRow(requestId))).egress, "office")
      yield* set({ id, isActive: true })
      yield* goes("office")
      proxy.refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
      // Idle sockets through the proxy are still good; a change makes calls ask it again.
      yield* set({ id, username: "alice" })
      yield* fails()
      proxy.refusal = null
      yield* goes("office")
      proxy.kill()
      yield* fails()
      yield* Effect.promise(() => gateway.manage("DELETE", `${proxies}?id=${id}`))
      yield* fails()
      yield* assign("global", null, null)
      yield* goes("direct")
      // A proxy's failure is no failure of the provider or its account.
      const { breakers } = yield* Effect.promise(() => gateway.manage("GET", "/api/resilience/breakers"))
      assert.deepStrictEqual(
        breakers.filter(({ failures }: { readonly failures: number }) => failures > 0),
        []
      )
    })
  )

  it.scopedLive("fail with a code of its own when the proxy has no address of the family it is pinned to", () =>
    Effect.gen(function* () {
      const { add, assign, fails, goes, startProxy } = yield* world()
      const proxy = yield* startProxy
      const pinned = yield* add("v6", proxy, { host: "localhost.localdomain", family: "ipv6" })
      yield* assign("provider", "up", pinned)
      yield* fails("PROXY_FAMILY_UNAVAILABLE")
      assert.deepStrictEqual(proxy.asked, [])
      yield* assign("provider", "up", yield* add("v4", proxy, { family: "ipv4" }))
      yield* goes("v4")
    })
  )

  it.scopedLive("of a stream that lose their proxy end with an error, and nothing is asked again", () =>
    Effect.gen(function* () {
      const { add, assign, gateway, startProxy, upstream } = yield* world()
      const proxy = yield* startProxy
      yield* assign("global", null, yield* add("office", proxy))
      const latch = Fake.makeLatch()
      const chunk = { choices: [{ index: 0, delta: { role: "assistant", content: "hel" } }] }
      upstream.enqueue(Fake.sse([`data: ${JSON.stringify(chunk)}\n\n`, latch]))
      const body = { model: "up/m", stream: true, messages: [{ role: "user", content: "Hi" }] }
      const response = yield* Effect.promise(() => gateway.post("/v1/chat/completions", body))
      const reader = response.body?.getReader()
      const first = yield* Effect.promise(async () => (await reader?.read())?.value)
      assert.include(Buffer.from(first ?? []).toString("utf8"), "hel")
      proxy.kill()
      const rest = yield* Effect.promise(async () => {
        const parts: Array<Buffer> = []
        for (;;) {
          const part = await reader?.read()
          if (part?.value === undefined) return Buffer.concat(parts).toString("utf8")
          parts.push(Buffer.from(part.value))
        }
      })
      assert.include(rest, `"error"`)
      assert.notInclude(rest, "[DONE]")
      assert.lengthOf(upstream.requests, 1)
      latch.open()
    })
  )

  it.scopedLive("that ask for model lists, tests and tokens counted go the same way", () =>
    Effect.gen(function* () {
      const { add, assign, connection, gateway, startProxy, upstream } = yield* world()
      const proxy = yield* startProxy
      yield* assign("connection", connection.id, yield* add("office", proxy))
      const asked = (): number => upstream.listRequests.length + upstream.requests.length
      const before = asked()
      yield* Effect.promise(() => gateway.manage("GET", `/api/providers/${connection.id}/models`))
      yield* Effect.promise(() => gateway.manage("POST", `/api/providers/${connection.id}/test`))
      assert.isAbove(asked(), before)
      assert.isAtLeast(proxy.asked.length, 1)
      proxy.kill()
      const dead = asked()
      const tested = yield* Effect.promise(() => gateway.manage("POST", `/api/providers/${connection.id}/test`))
      assert.strictEqual(tested.ok, false)
      assert.strictEqual(asked(), dead)
    })
  )
})

describe("a proxy", () => {
  it.scopedLive("is tested by what is fetched through it, and its list says how it did", () =>
    Effect.gen(function* () {
      const { add, gateway, startProxy, upstream } = yield* world()
      const proxy = yield* startProxy
      const id = yield* add("office", proxy, { isActive: false })
      upstream.enqueue(Fake.json({ ip: "203.0.113.7" }))
      const url = `${upstream.origin}/ip`
      const test = (body: unknown) => Effect.promise(() => gateway.manage("POST", "/api/settings/proxy/test", body))
      const worked = yield* test({ proxyId: id, url })
      assert.deepStrictEqual(
        [worked.ok, worked.egressIp, worked.family, worked.error],
        [true, "203.0.113.7", "ipv4", null]
      )
      proxy.kill()
      const failed = yield* test({ proxy: { type: "http", host: "127.0.0.1", port: proxy.port }, url })
      assert.deepStrictEqual([failed.ok, failed.egressIp, failed.family], [false, null, "auto"])
      assert.isString(failed.error)
      const { proxies: listed } = yield* Effect.promise(() => gateway.manage("GET", proxies))
      assert.strictEqual(listed[0].health.state, "working")
    })
  )

  it.scopedLive("that is not saved is tested by what was given for this test, and not by a way opened before", () =>
    Effect.gen(function* () {
      const { add, gateway, startProxy, upstream } = yield* world()
      const proxy = yield* startProxy
      proxy.login = "alice:right"
      upstream.always(Fake.json({ ip: "203.0.113.7" }))
      const url = `${upstream.origin}/ip`
      const entry = { name: "office", type: "http", host: "127.0.0.1", port: proxy.port, username: "alice" }
      const test = (given: unknown) =>
        Effect.promise(async () => (await gateway.manage("POST", "/api/settings/proxy/test", { proxy: given, url })).ok)
      assert.strictEqual(yield* test({ ...entry, password: "wrong" }), false)
      assert.strictEqual(yield* test({ ...entry, password: "right", isActive: true, family: "auto" }), true)
      assert.strictEqual(yield* test({ ...entry, password: "wrong" }), false)
      assert.strictEqual(proxy.asked.length, 3)

      // A saved one too, with its stored password or with one that is not saved yet.
      const id = yield* add("office", proxy, { username: "alice", password: "right" })
      const { proxies: shown } = yield* Effect.promise(() => gateway.manage("GET", proxies))
      assert.strictEqual(yield* test({ id }), true)
      assert.strictEqual(yield* test(shown[0]), true)
      assert.strictEqual(yield* test({ id, password: "wrong" }), false)
      const moved = yield* Effect.promise(() =>
        gateway.manage("POST", "/api/settings/proxy/test", { proxy: { id, port: 1 }, url }).catch(String)
      )
      assert.match(moved, /400.*password/)
      proxy.login = "alice:changed"
      assert.strictEqual(yield* test({ id }), false)
      const byId = yield* Effect.promise(() => gateway.manage("POST", "/api/settings/proxy/test", { proxyId: id, url }))
      assert.strictEqual(byId.ok, false)
    })
  )

  it.scopedLive("of a public list is tried, saved unused, and carries no keys until that is allowed", () =>
    Effect.gen(function* () {
      const {
        add: _,
        assign,
        fails,
        gateway,
        goes,
        startProxy,
        upstream
      } = yield* world({
        OUTBOUND_SSRF_GUARD_ENABLED: "false"
      })
      const proxy = yield* startProxy
      const lists = yield* Fake.start
      lists.always(Fake.text(`127.0.0.1:${proxy.port}\n127.0.0.1:1\nnothing\n`))
      upstream.enqueue(Fake.json({ ip: "203.0.113.7" }))
      const settings = (body: unknown) => Effect.promise(() => gateway.manage("PATCH", "/api/settings", body))
      yield* settings({ proxies: { freeSources: [`${lists.origin}/list`], testUrl: `${upstream.origin}/ip` } })
      const find = () => Effect.promise(() => gateway.manage("POST", `${proxies}/free`))
      const found = yield* find()
      assert.deepStrictEqual([found.listed, found.tested, found.proxies.length], [2, 2, 1])
      const [free] = found.proxies
      assert.deepStrictEqual([free.source, free.isActive, free.port], ["free", false, proxy.port])
      assert.strictEqual((yield* find()).listed, 1)
      yield* Effect.promise(() => gateway.manage("PATCH", proxies, { id: free.id, isActive: true }))
      yield* assign("global", null, free.id)
      yield* fails()
      yield* settings({ proxies: { freeProxiesMayCarryKeys: true } })
      yield* goes(free.name)
    })
  )

  it.scopedLive("of a public list is not looked for with FREE_PROXY_ENABLED=false", () =>
    Effect.gen(function* () {
      const { gateway } = yield* world({ FREE_PROXY_ENABLED: "false" })
      const settings = { proxies: { freeSources: ["https://lists.example/proxies.txt"] } }
      yield* Effect.promise(() => gateway.manage("PATCH", "/api/settings", settings))
      const refused = yield* Effect.promise(() => gateway.manage("POST", `${proxies}/free`).catch(String))
      assert.match(refused, /409.*FREE_PROXY_ENABLED is false/)
    })
  )

  it.scopedLive("that is chosen automatically is one that works", () =>
    Effect.gen(function* () {
      const { add, goes, fails, startProxy } = yield* world({ PROXY_AUTO_SELECT_ENABLED: "true" })
      yield* goes("direct")
      const first = yield* startProxy
      const second = yield* startProxy
      yield* add("first", first)
      yield* goes("first")
      yield* add("second", second)
      first.kill()
      yield* fails()
      yield* goes("second")
      second.kill()
      yield* fails()
      // All fail: the first of them is tried again, and nothing leaves by the own address.
      yield* fails()
    })
  )
})

describe("checks of keys", () => {
  for (const [value, isValid] of [
    ["false", false],
    ["true", true]
  ] as const) {
    it.scopedLive(`whose proxy is down, with GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK=${value}`, () =>
      Effect.gen(function* () {
        const { add, assign, fails, gateway, startProxy, upstream } = yield* world({
          GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK: value
        })
        const proxy = yield* startProxy
        yield* assign("global", null, yield* add("office", proxy))
        proxy.kill()
        const asked = upstream.listRequests.length
        const body = { provider: "up", apiKey: "sk-candidate-of-the-test" }
        const judged = yield* Effect.promise(() => gateway.manage("POST", "/api/providers/validate", body))
        assert.strictEqual(judged.valid, isValid, JSON.stringify(judged))
        assert.strictEqual(upstream.listRequests.length > asked, isValid)
        // Requests of clients are never part of it.
        yield* fails()
      })
    )
  }
})
