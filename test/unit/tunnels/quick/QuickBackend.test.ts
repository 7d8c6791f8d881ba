import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { readdirSync, readlinkSync } from "node:fs"
import { setImmediate as nextTurn } from "node:timers/promises"
import { PublicDownload } from "../../../../src/net/egress/PublicDownload.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { startedAt } from "../../../../src/platform/programs/ProcessIdentity.ts"
import * as SupervisedProgram from "../../../../src/platform/programs/SupervisedProgram.ts"
import * as Timers from "../../../../src/platform/Timers.ts"
import * as QuickProgram from "../../../../src/net/tunnels/quick/Program.ts"
import * as QuickBackend from "../../../../src/net/tunnels/quick/QuickBackend.ts"
import * as Supervisor from "../../../../src/net/tunnels/Supervisor.ts"
import { TunnelEntrance } from "../../../../src/net/tunnels/TunnelEntrance.ts"
import { eventually } from "../../../support/eventually.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { fakeCloudflared } from "../../../support/tunnels/FakeCloudflared.ts"

const noDownload = Layer.succeed(PublicDownload, { get: () => Effect.die("Nothing is to be downloaded.") })

const harness = (variables: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const fake = yield* fakeCloudflared
    const dataDir = yield* temporaryFolder
    const environment = new Map(
      Object.entries({
        PATH: process.env["PATH"] ?? "",
        SECRET_OF_THE_GATEWAY: "x",
        QUICK_TUNNEL_BIN: fake.path,
        ...variables
      })
    )
    const layer = QuickBackend.layer.pipe(
      Layer.provide(QuickProgram.layer),
      Layer.provide(SupervisedProgram.layer({ recordsFolder: `${dataDir}/tunnels` })),
      Layer.provide([noDownload, Timers.layer, AppConfig.layerOf({ dataDir, environment })])
    )
    const backend = yield* Effect.provide(QuickBackend.QuickBackend, yield* Layer.build(layer))
    const supervisor = yield* Supervisor.make(backend, () => undefined).pipe(
      Effect.provideService(TunnelEntrance, { open: Effect.succeed({ host: "127.0.0.1" as const, port: 4321 }) })
    )
    const phase = (wanted: string) =>
      Effect.promise(() => eventually(`phase ${wanted}`, supervisor.now, (status) => status.phase === wanted))
    return { dataDir, fake, phase, supervisor }
  })

/** The error after its time has passed on the test clock, in steps, because the program runs on the real one. */
const errorAfterSilence = Effect.fn(function* (supervisor: Supervisor.Supervisor<QuickBackend.QuickOptions>) {
  yield* TestClock.adjust(QuickBackend.openMs)
  return yield* Effect.promise(() => eventually("an error", supervisor.now, (status) => status.phase === "error"))
})

/** All that it says has been read: it is in the pipe, and the event loop has turned since. */
const heard = (fake: { readonly hasSaid: () => boolean }) =>
  Effect.promise(async () => {
    await eventually("its output", fake.hasSaid, (isThere) => isThere)
    for (let turn = 0; turn < 5; turn += 1) await nextTurn()
  })

describe("QuickBackend", () => {
  it.scoped("is open when a connection is registered, and ends with its scope", () =>
    Effect.gen(function* () {
      const { dataDir, fake, phase, supervisor } = yield* harness()
      fake.behave("ok")
      yield* supervisor.start({}, false)
      assert.deepInclude(yield* phase("running"), {
        publicUrl: "https://able-baker-charlie-dog.trycloudflare.com",
        apiUrl: "https://able-baker-charlie-dog.trycloudflare.com/v1"
      })
      assert.include(supervisor.now().warning ?? "", "server-sent events")
      const seen = fake.seen()
      assert.deepStrictEqual(seen?.args, [
        "tunnel",
        "--no-autoupdate",
        "--config",
        `${dataDir}/tunnels/cloudflared.yml`,
        "--url",
        "http://127.0.0.1:4321",
        "--protocol",
        "http2",
        "--metrics",
        "127.0.0.1:0"
      ])
      assert.notInclude(seen?.variables ?? [], "SECRET_OF_THE_GATEWAY")
      yield* supervisor.stop
      assert.isNull(startedAt(seen?.pid ?? 0))
      assert.deepStrictEqual(readdirSync(`${dataDir}/tunnels`), ["cloudflared.yml"])
    })
  )

  it.scoped("says that it ended, before and after it was open", () =>
    Effect.gen(function* () {
      const { fake, phase, supervisor } = yield* harness()
      fake.behave("crash before")
      yield* supervisor.start({}, false)
      assert.match((yield* phase("error")).lastError ?? "", /^cloudflared ended with 1: failed to request quick Tunnel/)
      fake.behave("crash after")
      yield* supervisor.start({}, false)
      const { lastError } = yield* phase("error")
      assert.match(lastError ?? "", /^cloudflared ended with 1: Cannot determine/)
      assert.notInclude(lastError ?? "", "/root")
    })
  )

  it.scoped("explains that Cloudflare gives no more tunnels", () =>
    Effect.gen(function* () {
      const { fake, phase, supervisor } = yield* harness()
      fake.behave("rate limited")
      yield* supervisor.start({}, false)
      assert.include((yield* phase("error")).lastError ?? "", "rate limited")
    })
  )

  for (const [behaviour, reason] of [
    ["nothing", "printed no address"],
    ["half an address", "printed no address"],
    ["no connection", "did not connect to Cloudflare"]
  ] as const) {
    it.scoped(`gives up after a time: ${behaviour}`, () =>
      Effect.gen(function* () {
        const { fake, supervisor } = yield* harness()
        fake.behave(behaviour)
        yield* supervisor.start({}, false)
        yield* heard(fake)
        const { lastError } = yield* errorAfterSilence(supervisor)
        assert.include(lastError ?? "", reason)
        yield* supervisor.stop
        assert.isNull(startedAt(fake.seen()?.pid ?? 0))
      })
    )
  }

  it.scoped("opens behind a flood of its log", () =>
    Effect.gen(function* () {
      const { fake, phase, supervisor } = yield* harness()
      fake.behave("flood")
      yield* supervisor.start({}, false)
      yield* phase("running")
    })
  )

  it.scoped("kills a program that ignores SIGTERM", () =>
    Effect.gen(function* () {
      const { fake, phase, supervisor } = yield* harness()
      fake.behave("ignores SIGTERM")
      yield* supervisor.start({}, false)
      yield* phase("running")
      yield* supervisor.stop
      assert.isNull(startedAt(fake.seen()?.pid ?? 0))
    })
  )

  it.scoped("starts it again when it was killed", () =>
    Effect.gen(function* () {
      const { fake, phase, supervisor } = yield* harness()
      fake.behave("ok")
      yield* supervisor.start({}, false)
      yield* phase("running")
      process.kill(fake.seen()?.pid ?? 0, "SIGKILL")
      assert.include((yield* phase("error")).lastError ?? "", "was ended by SIGKILL")
      yield* TestClock.adjust(Supervisor.restartLimits.firstMs * Supervisor.restartLimits.jitter.max + 1)
      assert.strictEqual((yield* phase("running")).restarts, 1)
    })
  )

  it.scoped("refuses an unknown protocol and a program that is none", () =>
    Effect.gen(function* () {
      const one = yield* harness({ TUNNEL_TRANSPORT_PROTOCOL: "http2 --x" })
      yield* one.supervisor.start({}, false)
      assert.include((yield* one.phase("error")).lastError ?? "", "TUNNEL_TRANSPORT_PROTOCOL must be one of")
      const other = yield* harness({ QUICK_TUNNEL_BIN: "cloudflared" })
      yield* other.supervisor.start({}, false)
      assert.include((yield* other.phase("error")).lastError ?? "", "QUICK_TUNNEL_BIN")
    })
  )

  it.live(
    "leaves nothing after 100 times",
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const { dataDir, fake, phase, supervisor } = yield* Scope.extend(harness(), scope)
        fake.behave("ok")
        const descriptors = () =>
          readdirSync("/proc/self/fd").flatMap((name) => {
            try {
              return [readlinkSync(`/proc/self/fd/${name}`).replace(/\d+/g, "n")]
            } catch {
              return []
            }
          }).length
        const pids: Array<number> = []
        let before = 0
        for (let count = 0; count < 100; count += 1) {
          yield* supervisor.start({}, false)
          yield* phase("running")
          pids.push(fake.seen()?.pid ?? 0)
          yield* supervisor.stop
          if (count === 0) before = descriptors()
        }
        assert.strictEqual(new Set(pids).size, 100)
        assert.deepStrictEqual(
          pids.filter((pid) => startedAt(pid) !== null),
          []
        )
        assert.deepStrictEqual(readdirSync(`${dataDir}/tunnels`), ["cloudflared.yml"])
        assert.isAtMost(descriptors(), before + 2)
        yield* Scope.close(scope, Exit.void)
      }).pipe(Effect.scoped),
    120_000
  )
})
