/** A server of the marketplace that never comes to an end: the own plugins are listed once the time is over. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import * as Dns from "../../../src/net/egress/Dns.ts"
import * as PublicFetch from "../../../src/net/egress/PublicFetch.ts"
import * as UpstreamSettings from "../../../src/net/egress/UpstreamSettings.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../src/subjects/flags/repo.ts"
import { GatewaySettings } from "../../../src/subjects/flags/StoredFlags.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import { Marketplace, layer } from "../../../src/agents/plugins/Marketplace.ts"
import { Plugins } from "../../../src/agents/plugins/Plugins.ts"
import { samples } from "../../../src/agents/plugins/samples/index.ts"
import { PluginRepo } from "../../../src/subjects/plugins/repo.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { mocked } from "../../support/Mocked.ts"
import * as TestTimers from "../../support/TestTimers.ts"

/** Timeouts follow the test clock, sockets are real. */
const marketplace = (address: string) =>
  layer.pipe(
    Layer.provide(PublicFetch.layer),
    Layer.provide(Flags.layer),
    Layer.provide(
      Layer.mergeAll(
        Dns.layer,
        TestTimers.layer,
        UpstreamSettings.layerOf({ connectTimeoutMs: 60_000 }),
        layerMemory({ OUTBOUND_SSRF_GUARD_ENABLED: "false" }),
        AppConfig.layerOf({ dataDir: "/nowhere" }),
        mocked(Plugins, {}),
        mocked(PluginRepo, { list: Effect.succeed([]), get: () => Effect.succeed(null) }),
        mocked(GatewaySettings, { current: () => ({ pluginMarketplaceUrl: address }) })
      )
    )
  )

const integrity = `sha256-${"A".repeat(43)}=`

/** Takes connections and says nothing, not even what TLS begins with. */
const silent = Effect.acquireRelease(
  Effect.promise(async () => {
    const taken = Fake.makeLatch()
    const gone = Fake.makeLatch()
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket
        .on("error", () => {})
        .on("close", gone.open)
        .resume()
      taken.open()
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const close = (): void => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
    return { port, taken: taken.opened, gone: gone.opened, close }
  }),
  ({ close }) => Effect.sync(close)
)

describe("a server that never comes to an end", () => {
  const slow: ReadonlyArray<readonly [string, (answered: () => void) => Fake.Answer]> = [
    ["does not answer", (answered) => () => answered()],
    [
      "goes on and on",
      (answered) => (response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.write('{"plugins": [', answered)
      }
    ]
  ]

  for (const [what, answer] of slow) {
    it.scoped(`and ${what}: the own plugins are listed after 10 seconds`, () =>
      Effect.gen(function* () {
        const upstream = yield* Fake.start
        const answered = Fake.makeLatch()
        upstream.always(answer(answered.open))
        const listing = yield* Effect.fork(
          Effect.flatMap(Marketplace, ({ list }) => list).pipe(
            Effect.provide(marketplace(`${upstream.origin}/list.json`))
          )
        )
        const request = yield* Effect.promise(() => upstream.received(1))
        yield* Effect.promise(() => answered.opened)
        yield* TestClock.adjust("9999 millis")
        assert.isTrue(Option.isNone(yield* Fiber.poll(listing)))
        yield* TestClock.adjust("1 millis")
        const { plugins, remoteError } = yield* Fiber.join(listing)
        assert.deepStrictEqual(
          plugins.map(({ name }) => name),
          samples.map(({ manifest }) => manifest.name)
        )
        assert.strictEqual(remoteError, "the list of pluginMarketplaceUrl did not come within 10 seconds")
        yield* Effect.promise(() => request.closed)
      })
    )
  }

  it.scoped("and has a plugin: it is given up after 30 seconds", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      const { gone, port, taken } = yield* silent
      const url = `https://127.0.0.1:${port}/hello.json`
      const plugins = [{ name: "hello", version: "1.0.0", description: "", permissions: [], integrity, url }]
      upstream.always(Fake.json({ plugins }))
      const installing = yield* Effect.fork(
        Effect.flatMap(Marketplace, ({ install }) => Effect.flip(install("hello"))).pipe(
          Effect.provide(marketplace(`${upstream.origin}/list.json`))
        )
      )
      yield* Effect.promise(() => taken)
      yield* TestClock.adjust("30 seconds")
      const { message } = yield* Fiber.join(installing)
      assert.include(message, "the file of 'hello' did not come within 30 seconds")
      yield* Effect.promise(() => gone)
    })
  )
})
