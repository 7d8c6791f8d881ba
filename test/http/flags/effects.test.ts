/** What flags do while the gateway runs, in both positions: over real sockets, set as a person does, in an admin session. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answer as streamed, ask as askStreaming, cut } from "../inference/recovery/Streams.ts"
import { fake, start, temporary } from "./Scene.ts"

describe("provider addresses", () => {
  it.scopedLive("the local flag opens this machine and its networks, the private one its networks alone", () =>
    Effect.gen(function* () {
      const upstream = yield* fake
      const { admin, chat, gateway, set } = yield* start()
      const statusOfNode = async (prefix: string, host: string) => {
        const body = { name: prefix, prefix, type: "openai-compatible", baseUrl: `http://${host}:9/v1` }
        return (await admin("POST", "/api/provider-nodes", body)).status
      }
      yield* Effect.promise(async () => {
        await gateway.connect("one", upstream, "chat")
        assert.strictEqual(await chat("one/m"), 200)

        await set("GATEWAY_ALLOW_LOCAL_PROVIDER_URLS", "false")
        assert.notStrictEqual(await chat("one/m"), 200)
        assert.strictEqual(await statusOfNode("lan-refused", "192.168.7.7"), 400)

        await set("GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS", "true")
        assert.strictEqual(await statusOfNode("lan", "192.168.7.7"), 201)
        for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
          assert.strictEqual(await statusOfNode("here", host), 400, host)
        }
        assert.notStrictEqual(await chat("one/m"), 200)
        assert.lengthOf(upstream.requests, 1)

        await set("GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS", null)
        assert.strictEqual(await statusOfNode("lan-again", "192.168.7.7"), 400)
        await set("GATEWAY_ALLOW_LOCAL_PROVIDER_URLS", null)
        assert.strictEqual(await statusOfNode("here", "127.0.0.1"), 201)
      })
    })
  )

  it.scopedLive("without the guard all but metadata addresses may be providers, with it what the two flags say", () =>
    Effect.gen(function* () {
      const upstream = yield* fake
      const { admin, chat, gateway, set } = yield* start({ OUTBOUND_SSRF_GUARD_ENABLED: "false" })
      yield* Effect.promise(async () => {
        await set("GATEWAY_ALLOW_LOCAL_PROVIDER_URLS", "false")
        await gateway.connect("one", upstream, "chat")
        assert.strictEqual(await chat("one/m"), 200)
        const node = { name: "n", prefix: "n", type: "openai-compatible", baseUrl: "http://169.254.169.254/v1" }
        assert.strictEqual((await admin("POST", "/api/provider-nodes", node)).status, 400)
        await set("OUTBOUND_SSRF_GUARD_ENABLED", "true")
        assert.notStrictEqual(await chat("one/m"), 200)
        assert.lengthOf(upstream.requests, 1)
      })
    })
  )
})

describe("connections", () => {
  it.scopedLive("are throttled with RATE_LIMIT_AUTO_ENABLE, although the setting's own switch is off", () =>
    Effect.gen(function* () {
      const upstream = yield* fake
      const { chat, gateway, set } = yield* start()
      yield* Effect.promise(async () => {
        await gateway.connect("one", upstream, "chat")
        const requestQueue = { enabled: false, requestsPerMinute: 1, maxWaitMs: 0 }
        await gateway.manage("PATCH", "/api/resilience", { requestQueue })
        assert.deepStrictEqual([await chat("one/m"), await chat("one/m")], [200, 200])
        await set("RATE_LIMIT_AUTO_ENABLE", "true")
        assert.deepStrictEqual([await chat("one/m"), await chat("one/m")], [200, 503])
        await set("RATE_LIMIT_AUTO_ENABLE", null)
        assert.deepStrictEqual([await chat("one/m"), await chat("one/m")], [200, 200])
      })
    })
  )

  it.scopedLive("show their key with ALLOW_API_KEY_REVEAL, one at a time and to the management only", () =>
    Effect.gen(function* () {
      const upstream = yield* fake
      const { gateway, set } = yield* start()
      yield* Effect.promise(async () => {
        const { id } = await gateway.connect("one", upstream, "chat")
        const path = `/api/providers/${id}`
        const whole = "upstream-key-of-one"
        const shown = async () => (await gateway.manage("GET", path)).connection.apiKey
        assert.notInclude(await shown(), whole)
        await set("ALLOW_API_KEY_REVEAL", "true")
        assert.strictEqual(await shown(), whole)
        assert.notInclude(JSON.stringify(await gateway.manage("GET", "/api/providers")), whole)
        assert.notInclude(JSON.stringify(await gateway.manage("PUT", path, { name: "renamed" })), whole)
        assert.strictEqual((await fetch(gateway.url + path)).status, 401)
        await set("ALLOW_API_KEY_REVEAL", null)
        assert.notInclude(await shown(), whole)
      })
    })
  )

  for (const [value, status] of [
    ["false", 409],
    ["true", 201]
  ] as const) {
    it.scopedLive(
      `with ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE=${value}, a second one of a node is answered ${status}`,
      () =>
        Effect.gen(function* () {
          const upstream = yield* fake
          const { admin, gateway } = yield* start({ ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE: value })
          yield* Effect.promise(async () => {
            await gateway.connect("one", upstream, "chat")
            const second = { provider: "one", name: "second", apiKey: "another-key-of-one" }
            assert.strictEqual((await admin("POST", "/api/providers", second)).status, status)
          })
        })
    )
  }
})

describe("the background", () => {
  const hasAsked = (upstream: Fake.FakeUpstream) =>
    eventually(
      "the models to be asked for",
      async () => upstream.listRequests.length,
      (count) => count > 0
    )

  it.scopedLive("leaves local servers alone with GATEWAY_DISABLE_LOCAL_HEALTHCHECK, until it is off again", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* fake, yield* fake]
      const { chat, gateway, set } = yield* start({ GATEWAY_DISABLE_LOCAL_HEALTHCHECK: "true" })
      yield* Effect.promise(async () => {
        await gateway.connect("first", first, "chat")
        assert.strictEqual(await chat("first/m"), 200)
        assert.strictEqual(first.listRequests.length, 0)
        await set("GATEWAY_DISABLE_LOCAL_HEALTHCHECK", "false")
        await hasAsked(first)
        await set("GATEWAY_DISABLE_LOCAL_HEALTHCHECK", "true")
        await gateway.connect("second", second, "chat")
        assert.strictEqual(await chat("second/m"), 200)
        assert.strictEqual(second.listRequests.length, 0)
      })
    })
  )

  it.scopedLive("rests with GATEWAY_DISABLE_BACKGROUND_SERVICES from the next start on, and the list says so", () =>
    Effect.gen(function* () {
      const [first, second, third] = [yield* fake, yield* fake, yield* fake]
      const folder = yield* temporary
      const flag = "GATEWAY_DISABLE_BACKGROUND_SERVICES"
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { gateway, listed, set } = yield* start({}, folder)
          yield* Effect.promise(async () => {
            await gateway.connect("first", first, "chat")
            await hasAsked(first)
            const change = await set(flag, "true")
            assert.deepInclude(change, { requiresRestart: true, pendingRestart: true, effectiveValue: "true" })
            assert.deepInclude(await listed(flag), { effectiveValue: "true", source: "db", pendingRestart: true })
            await gateway.connect("second", second, "chat")
            await hasAsked(second)
          })
        })
      )
      const before = first.listRequests.length
      const { chat, gateway, listed, set } = yield* start({}, folder)
      yield* Effect.promise(async () => {
        assert.deepInclude(await listed(flag), { effectiveValue: "true", source: "db", pendingRestart: false })
        await gateway.connect("third", third, "chat")
        assert.deepStrictEqual([await chat("third/m"), await chat("first/m")], [200, 200])
        assert.deepStrictEqual([first.listRequests.length, third.listRequests.length], [before, 0])
        // Another spelling of the value in force is no change to wait for.
        assert.deepInclude(await set(flag, "yes"), { effectiveValue: "yes", pendingRestart: false })
      })
    })
  )
})

describe("a flag that this gateway cannot do well", () => {
  it.scopedLive("cannot be switched on, and says why: ENABLE_TLS_FINGERPRINT", () =>
    Effect.gen(function* () {
      const { listed, put } = yield* start({ ENABLE_TLS_FINGERPRINT: "true" })
      yield* Effect.promise(async () => {
        const before = await listed("ENABLE_TLS_FINGERPRINT")
        assert.deepInclude(before, { effectiveValue: "false", source: "default" })
        const refused = await put("ENABLE_TLS_FINGERPRINT", "true")
        assert.strictEqual(refused.status, 409)
        const { error } = JSON.parse(await refused.text())
        assert.strictEqual(error.code, "flag_refused")
        assert.include(error.message, "Node's TLS")
        assert.strictEqual((await put("ENABLE_TLS_FINGERPRINT", "false")).status, 200)
      })
    })
  )
})

describe("the model list", () => {
  it.scopedLive("shows names and prefixes as MODEL_CATALOG_INCLUDE_NAMES and MODELS_CATALOG_PREFIX_MODE say", () =>
    Effect.gen(function* () {
      const { admin, gateway, set } = yield* start({ GATEWAY_DISABLE_BACKGROUND_SERVICES: "true" })
      interface Entry {
        readonly id: string
        readonly name?: string
      }
      const entries = async (): Promise<ReadonlyArray<Entry>> => {
        const { data } = JSON.parse(await (await fetch(`${gateway.url}/v1/models`)).text())
        return (data as ReadonlyArray<Entry>).filter(({ id }) => id.endsWith("/my-model"))
      }
      const ids = async () => (await entries()).map(({ id }) => id)
      yield* Effect.promise(async () => {
        const connection = { provider: "gemini", name: "g", apiKey: "a-key-of-gemini", models: ["my-model"] }
        assert.strictEqual((await admin("POST", "/api/providers", connection)).status, 201)
        assert.deepStrictEqual(await ids(), ["gemini/my-model"])
        assert.isString((await entries())[0]?.name)
        await set("MODEL_CATALOG_INCLUDE_NAMES", "false")
        assert.notProperty((await entries())[0], "name")
        await set("MODELS_CATALOG_PREFIX_MODE", "alias")
        assert.deepStrictEqual(await ids(), ["google/my-model"])
        await set("MODELS_CATALOG_PREFIX_MODE", "dual")
        assert.deepStrictEqual(await ids(), ["gemini/my-model", "google/my-model"])
      })
    })
  )
})

describe("streams that break early", () => {
  for (const [value, text] of [
    ["false", "The quick"],
    ["true", "The lazy dog."]
  ] as const) {
    it.scopedLive(`with STREAM_RECOVERY_ENABLED=${value}, the client reads '${text}'`, () =>
      Effect.gen(function* () {
        const [one, two] = [yield* Fake.start, yield* Fake.start]
        const { gateway } = yield* start({ STREAM_RECOVERY_ENABLED: value })
        yield* Effect.promise(async () => {
          await gateway.connect("one", one, "chat")
          await gateway.connect("two", two, "chat")
          await gateway.combo("both", "one/m", "two/m")
          one.always(cut("chat", ["The quick"]))
          two.always(streamed("chat", ["The lazy dog."]))
          const heard = await askStreaming("chat", gateway.url, "both")
          assert.strictEqual(heard.text, text)
          assert.strictEqual(heard.isClean, value === "true")
          assert.lengthOf(two.requests, value === "true" ? 1 : 0)
        })
      })
    )
  }
})
