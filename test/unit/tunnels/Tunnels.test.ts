import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import type { TunnelBackend } from "../../../src/subjects/tunnels/entity.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import { TunnelRepo } from "../../../src/subjects/tunnels/repo.ts"
import { type Backend, TunnelFailed } from "../../../src/net/tunnels/Backend.ts"
import { Backends } from "../../../src/net/tunnels/Backends.ts"
import { TunnelEntrance } from "../../../src/net/tunnels/TunnelEntrance.ts"
import * as Tunnels from "../../../src/net/tunnels/Tunnels.ts"
import { eventually } from "../../support/eventually.ts"
import { reposInMemory } from "../store/fixtures.ts"

/** Backends that open at once, hang or fail, and remember their options. */
const fakes = () => {
  const runs: Array<readonly [TunnelBackend, unknown]> = []
  const behaviour = new Map<TunnelBackend, "open" | "hang" | "fail">()
  const addresses = new Map<TunnelBackend, string>()
  const backend = <Options>(name: TunnelBackend): Backend<Options> => ({
    name,
    warning: null,
    run: (options, _, opened) =>
      Effect.gen(function* () {
        runs.push([name, options])
        const how = behaviour.get(name) ?? "open"
        if (how === "fail") return yield* new TunnelFailed({ reason: "no way", isFinal: true })
        if (how === "open") yield* opened({ publicUrl: addresses.get(name) ?? `https://${name}.example` })
        return yield* Effect.never
      })
  })
  const layer = Layer.succeed(Backends, {
    quick: backend("quick"),
    token: backend("token"),
    mesh: backend("mesh"),
    ssh: backend("ssh")
  })
  return { addresses, behaviour, layer, runs }
}

const entrance = Layer.succeed(TunnelEntrance, { open: Effect.succeed({ host: "127.0.0.1" as const, port: 1 }) })
const flagsOf = (values: Readonly<Record<string, string>>) =>
  Flags.layer.pipe(Layer.provide([layerMemory(values), AppConfig.layerOf({ dataDir: "/nowhere" })]))

const withKeys = { REQUIRE_API_KEY: "true" }
const keyless = { REQUIRE_API_KEY: "false" }

/** A gateway with tunnels; those over one store are its starts. */
const gateway = (flags: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const fake = fakes()
    const repo = yield* TunnelRepo
    const context = yield* Layer.build(
      Tunnels.layer.pipe(Layer.provide([fake.layer, entrance, flagsOf(flags), Layer.succeed(TunnelRepo, repo)]))
    )
    return { ...fake, tunnels: yield* Effect.provide(Tunnels.Tunnels, context) }
  })

const settled = (tunnels: typeof Tunnels.Tunnels.Service, backend: TunnelBackend) =>
  Effect.promise(() =>
    eventually(
      `the end of the start of ${backend}`,
      () => Effect.runSync(tunnels.status(backend)),
      ({ phase }) => phase !== "stopped" && phase !== "starting"
    )
  )

const ssh = { backend: "ssh", user: "me", host: "h.example", port: 22, remotePort: 0, hostKey: null } as const

describe("Tunnels", () => {
  it.scoped("opens several, lists them in order, and knows their hosts", () =>
    Effect.gen(function* () {
      const { addresses, tunnels } = yield* gateway(withKeys)
      addresses.set("ssh", "http://[2001:DB8::7]:8080")
      assert.deepStrictEqual(
        (yield* tunnels.list).map(({ backend, phase }) => `${backend} ${phase}`),
        ["quick stopped", "token stopped", "mesh stopped", "ssh stopped"]
      )
      assert.deepInclude(yield* tunnels.enable({ backend: "quick", allowKeyless: false }), {
        phase: "running",
        publicUrl: "https://quick.example"
      })
      yield* tunnels.enable({ ...ssh, allowKeyless: false })
      assert.deepStrictEqual([...tunnels.publicHosts()].sort(), ["2001:db8::7", "quick.example"])
      assert.isFalse(tunnels.allowsKeyless())
      assert.deepInclude(yield* tunnels.disable("quick"), { phase: "stopped", publicUrl: null })
      assert.deepStrictEqual([...tunnels.publicHosts()], ["2001:db8::7"])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("refuses to open a gateway without keys unless that is asked for", () =>
    Effect.gen(function* () {
      const { runs, tunnels } = yield* gateway(keyless)
      const refused = yield* Effect.flip(tunnels.enable({ backend: "quick", allowKeyless: false }))
      assert.deepInclude(refused, { _tag: "KeysRequired", backend: "quick" })
      assert.deepStrictEqual(runs, [])
      assert.deepInclude(yield* tunnels.enable({ backend: "quick", allowKeyless: true }), { allowKeyless: true })
      assert.isTrue(tunnels.allowsKeyless())
      yield* tunnels.disable("quick")
      assert.isFalse(tunnels.allowsKeyless())
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("allows no request without a key while another tunnel is open that must have keys", () =>
    Effect.gen(function* () {
      const { tunnels } = yield* gateway(withKeys)
      yield* tunnels.enable({ backend: "quick", allowKeyless: true })
      assert.isTrue(tunnels.allowsKeyless())
      yield* tunnels.enable({ ...ssh, allowKeyless: false })
      assert.isFalse(tunnels.allowsKeyless())
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("leaves one that is open with the same options as it is, and opens it anew with others", () =>
    Effect.gen(function* () {
      const { runs, tunnels } = yield* gateway(withKeys)
      yield* tunnels.enable({ ...ssh, allowKeyless: false })
      yield* tunnels.enable({ ...ssh, allowKeyless: false })
      assert.strictEqual(runs.length, 1)
      yield* tunnels.enable({ ...ssh, remotePort: 8080, allowKeyless: false })
      assert.strictEqual(runs.length, 2)
      yield* tunnels.enable({ backend: "token", authToken: Redacted.make("one"), allowKeyless: false })
      yield* tunnels.enable({ backend: "token", authToken: Redacted.make("one"), allowKeyless: false })
      yield* tunnels.enable({ backend: "token", authToken: null, allowKeyless: false })
      assert.strictEqual(runs.length, 3)
      yield* tunnels.enable({ backend: "token", authToken: Redacted.make("two"), allowKeyless: false })
      assert.strictEqual(runs.length, 4)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("names the option that cannot be used, and never a secret", () =>
    Effect.gen(function* () {
      const { tunnels } = yield* gateway(withKeys)
      const field = (tunnel: Tunnels.EnableTunnel) =>
        Effect.map(Effect.flip(tunnels.enable(tunnel)), (error) =>
          error._tag === "InvalidTunnelOption" ? `${error.field} ${error.message}` : error._tag
        )
      assert.match(yield* field({ ...ssh, user: "-x", allowKeyless: false }), /^user /)
      assert.match(yield* field({ backend: "mesh", port: 80, sudoPassword: null, allowKeyless: false }), /^port /)
      const authToken = Redacted.make("a\u0007b")
      const told = yield* field({ backend: "token", authToken, allowKeyless: false })
      assert.match(told, /^authToken /)
      assert.notInclude(told, "\u0007")
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("answers after its wait with what the tunnel is then, and with a failure at once", () =>
    Effect.gen(function* () {
      const { behaviour, tunnels } = yield* gateway(withKeys)
      behaviour.set("quick", "hang")
      const waiting = yield* Effect.fork(tunnels.enable({ backend: "quick", allowKeyless: false }))
      yield* TestClock.adjust(Tunnels.enableWaitMs)
      assert.strictEqual((yield* Fiber.join(waiting)).phase, "starting")
      behaviour.set("ssh", "fail")
      assert.deepInclude(yield* tunnels.enable({ ...ssh, allowKeyless: false }), {
        phase: "error",
        lastError: "no way"
      })
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("tells of changes as they come", () =>
    Effect.gen(function* () {
      const { tunnels } = yield* gateway(withKeys)
      const phases = yield* tunnels.changes("quick").pipe(
        Stream.map(({ phase }) => phase),
        Stream.changes,
        Stream.takeUntil((phase) => phase === "running"),
        Stream.runCollect,
        Effect.fork
      )
      yield* Effect.yieldNow()
      yield* tunnels.enable({ backend: "quick", allowKeyless: false })
      assert.strictEqual([...(yield* Fiber.join(phases))].at(-1), "running")
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("opens at the next start what was open, with its secret and without the sudo password", () =>
    Effect.gen(function* () {
      const first = yield* Scope.make()
      const before = yield* Scope.extend(gateway(withKeys), first)
      const authToken = Redacted.make("secret-token")
      const sudoPassword = Redacted.make("secret-password")
      yield* before.tunnels.enable({ backend: "token", authToken, allowKeyless: true })
      yield* before.tunnels.enable({ backend: "mesh", port: 8443, sudoPassword, allowKeyless: false })
      yield* before.tunnels.enable({ ...ssh, allowKeyless: false })
      yield* before.tunnels.enable({ backend: "quick", allowKeyless: false })
      yield* before.tunnels.disable("quick")
      const repo = yield* TunnelRepo
      assert.notInclude(JSON.stringify(yield* repo.list), "secret-")
      yield* Scope.close(first, Exit.void)

      const { runs, tunnels } = yield* gateway(withKeys)
      for (const backend of ["token", "mesh", "ssh"] as const) {
        assert.strictEqual((yield* settled(tunnels, backend)).phase, "running")
      }
      assert.strictEqual((yield* tunnels.status("quick")).phase, "stopped")
      const { backend, ...sshOptions } = ssh
      assert.deepStrictEqual(
        new Map<string, unknown>(runs),
        new Map<string, unknown>([
          ["mesh", { port: 8443, sudoPassword: null }],
          [backend, sshOptions],
          ["token", { authToken }]
        ])
      )
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("does not open at the next start what must have keys when none are required any more", () =>
    Effect.gen(function* () {
      const repo = yield* TunnelRepo
      const row = { isEnabled: true, secret: null, updatedAtMs: 1 }
      yield* repo.save({ ...row, backend: "quick", allowKeyless: false, options: {} })
      yield* repo.save({ ...row, backend: "ssh", allowKeyless: true, options: { user: "-x" } })
      const { runs, tunnels } = yield* gateway(keyless)
      assert.include((yield* settled(tunnels, "quick")).lastError ?? "", "requires no API key")
      assert.include((yield* settled(tunnels, "ssh")).lastError ?? "", "cannot be read")
      assert.deepStrictEqual(runs, [])
    }).pipe(Effect.provide(reposInMemory))
  )
})
