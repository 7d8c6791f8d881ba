/** Calls through a proxy that the environment names, over real sockets. The names below `.example` exist for the proxy only. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ConnectProxy from "../../support/ConnectProxy.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { assignments, proxies } from "./world.ts"

const question = { model: "up/m", messages: [{ role: "user", content: "hi" }] }

const world = (more: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const proxy = yield* ConnectProxy.start
    const upstream = yield* Fake.start
    const { port } = new URL(upstream.origin)
    proxy.hosts.set("api.example", "127.0.0.1")
    const environment = new Map(
      Object.entries({
        HTTP_PROXY: `http://alice:secret@127.0.0.1:${proxy.port}`,
        GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true",
        GATEWAY_DISABLE_BACKGROUND_SERVICES: "true",
        ...more
      })
    )
    const gateway = yield* TestGateway.start({ environment })
    const origin = `http://api.example:${port}`
    yield* Effect.promise(() => gateway.connect("up", { ...upstream, origin }, "chat"))
    const asks = Effect.promise(async () => {
      const response = await gateway.post("/v1/chat/completions", question)
      return { status: response.status, egress: response.headers.get("x-gateway-egress"), text: await response.text() }
    })
    return { asks, gateway, port, proxy, upstream }
  })

describe("with HTTP_PROXY", () => {
  it.scopedLive("calls of providers go through it, with its credentials, and answers say so", () =>
    Effect.gen(function* () {
      const { asks, port, proxy, upstream } = yield* world()
      upstream.enqueue(Fake.json(Fake.chatCompletion()))
      const { egress, status, text } = yield* asks
      assert.strictEqual(status, 200, text)
      assert.strictEqual(egress, "environment")
      assert.deepStrictEqual(proxy.asked, [`api.example:${port}`])
      assert.deepStrictEqual(proxy.credentials, [`Basic ${Buffer.from("alice:secret").toString("base64")}`])
    })
  )

  it.scopedLive("a proxy that is down ends the call with 503, never direct; a node of this machine needs none", () =>
    Effect.gen(function* () {
      const { asks, gateway, proxy, upstream } = yield* world()
      proxy.kill()
      const { status, text } = yield* asks
      assert.strictEqual(status, 503)
      assert.include(text, "PROXY_UNAVAILABLE")
      assert.notInclude(text, "secret")
      yield* Effect.promise(() => gateway.connect("near", upstream, "chat"))
      upstream.enqueue(Fake.json(Fake.chatCompletion()))
      const near = yield* Effect.promise(() => gateway.post("/v1/chat/completions", { ...question, model: "near/m" }))
      assert.strictEqual(near.status, 200)
      assert.strictEqual(near.headers.get("x-gateway-egress"), "direct")
    })
  )

  it.scopedLive("one that is configured in the gateway is used in its place", () =>
    Effect.gen(function* () {
      const { asks, gateway, proxy, upstream } = yield* world()
      const own = yield* ConnectProxy.start
      own.hosts.set("api.example", "127.0.0.1")
      const { proxy: made } = yield* Effect.promise(() =>
        gateway.manage("POST", proxies, { name: "own", type: "http", host: "127.0.0.1", port: own.port })
      )
      yield* Effect.promise(() =>
        gateway.manage("PUT", assignments, {
          scope: "provider",
          scopeId: "up",
          proxyId: made.id
        })
      )
      upstream.enqueue(Fake.json(Fake.chatCompletion()))
      const { egress, text } = yield* asks
      assert.strictEqual(egress, "own", text)
      assert.deepStrictEqual(proxy.asked, [])
    })
  )

  it.scopedLive("GATEWAY_IGNORE_PROXY_ENV and NO_PROXY set it aside", () =>
    Effect.gen(function* () {
      for (const more of [{ GATEWAY_IGNORE_PROXY_ENV: "1" }, { NO_PROXY: ".example" }]) {
        const { asks, proxy } = yield* world(more)
        // Nothing but the proxy knows the name.
        const { status, text } = yield* asks
        assert.strictEqual(status, 502)
        assert.include(text, "could not be resolved")
        assert.deepStrictEqual(proxy.asked, [])
      }
    })
  )
})
