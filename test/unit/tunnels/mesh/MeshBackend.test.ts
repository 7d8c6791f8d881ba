import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TunnelFailed, TunnelNeedsAuth } from "../../../../src/net/tunnels/Backend.ts"
import { makeBackend, type MeshOptions } from "../../../../src/net/tunnels/mesh/MeshBackend.ts"
import type { Entrance } from "../../../../src/net/tunnels/TunnelEntrance.ts"
import { eventually } from "../../../support/eventually.ts"
import { fakeHome, type FakeHome, meshAt } from "../../../support/tunnels/Mesh.ts"

const entrance: Entrance = { host: "127.0.0.1", port: 40_123 }
const target = "http://127.0.0.1:40123"
const options = (fields: Partial<MeshOptions> = {}): MeshOptions => ({ port: 443, sudoPassword: null, ...fields })
const at443 = "box.tail1234.ts.net:443"
const ours = {
  TCP: { 443: { HTTPS: true } },
  Web: { [at443]: { Handlers: { "/": { Proxy: target } } } },
  AllowFunnel: { [at443]: true }
}

type Mesh = Effect.Effect.Success<ReturnType<typeof meshAt>>

/** Looks often. */
const watched = (mesh: Mesh, mostUnclear = 2): Mesh => ({
  ...mesh,
  backend: makeBackend(mesh.funnel, { lookEveryMs: 20, mostUnclear })
})

/** The error of a run that does not open. */
const failureAt = (mesh: Mesh, given: Partial<MeshOptions> = {}) =>
  Effect.map(
    Effect.either(Effect.scoped(mesh.backend.run(options(given), entrance, () => Effect.void))),
    (result): TunnelFailed | TunnelNeedsAuth => {
      if (Either.isRight(result)) throw new Error("It did not fail.")
      return result.left
    }
  )

/** Starts a run and waits for its address. */
const opening = (mesh: Mesh, given: Partial<MeshOptions> = {}) =>
  Effect.gen(function* () {
    const address = yield* Deferred.make<string, TunnelFailed | TunnelNeedsAuth>()
    const fiber = yield* Effect.forkDaemon(
      Effect.scoped(
        mesh.backend.run(options(given), entrance, ({ publicUrl }) => Deferred.succeed(address, publicUrl))
      ).pipe(Effect.tapError((error) => Deferred.fail(address, error)))
    )
    return { publicUrl: yield* Deferred.await(address), fiber, stop: Fiber.interrupt(fiber) }
  })

const funnelCalls = ({ calls }: FakeHome) =>
  calls().flatMap(({ args = [], program }) =>
    program === "tailscale" && args[0] === "funnel" && args[1] !== "status" ? [args.join(" ")] : []
  )

const onCommand = `funnel --https=443 --bg --yes ${target}`
const offCommand = "funnel --https=443 --set-path=/ --yes off"

describe("the mesh tunnel", () => {
  it.live("opens a funnel to the listener, and takes it back with its scope", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const { publicUrl, stop } = yield* opening(yield* meshAt(home))
      assert.strictEqual(publicUrl, "https://box.tail1234.ts.net")
      assert.deepStrictEqual(home.state().serve, ours)
      assert.deepStrictEqual(home.record(), { port: 443, target })
      yield* stop
      assert.deepStrictEqual(funnelCalls(home), [onCommand, offCommand])
      assert.deepStrictEqual(home.state().serve, { TCP: {}, Web: {}, AllowFunnel: {} })
      assert.isNull(home.record())
    }).pipe(Effect.scoped)
  )

  it.live("gives its programs nothing of the gateway's environment", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const { stop } = yield* opening(yield* meshAt(home))
      yield* stop
      const names = new Set(home.calls().flatMap(({ environment }) => environment))
      assert.isFalse(names.has("GATEWAY_ADMIN_KEY"))
      assert.isTrue(names.has("PATH"))
    }).pipe(Effect.scoped)
  )

  it.live("names another public port in the address", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const { publicUrl, stop } = yield* opening(yield* meshAt(home), { port: 8443 })
      assert.strictEqual(publicUrl, "https://box.tail1234.ts.net:8443")
      yield* stop
    }).pipe(Effect.scoped)
  )

  it.live("takes back its own path only, and leaves what a person serves beside it", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const { stop } = yield* opening(yield* meshAt(home))
      home.change({
        serve: { ...ours, Web: { [at443]: { Handlers: { "/": { Proxy: target }, "/mine": { Path: "/srv/mine" } } } } }
      })
      yield* stop
      assert.deepStrictEqual(home.state().serve, {
        ...ours,
        Web: { [at443]: { Handlers: { "/mine": { Path: "/srv/mine" } } } }
      })
    }).pipe(Effect.scoped)
  )

  it.live("leaves what a person has put in the place of its own", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const { stop } = yield* opening(yield* meshAt(home))
      const theirs = { ...ours, Web: { [at443]: { Handlers: { "/": { Proxy: "http://127.0.0.1:3000" } } } } }
      home.change({ serve: theirs })
      yield* stop
      assert.deepStrictEqual(home.state().serve, theirs)
      assert.isNull(home.record())
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["something else at its root", { "/": { Proxy: "http://127.0.0.1:3000" } }],
    ["paths that would become public", { "/private": { Path: "/srv" } }]
  ])("does not touch a port that serves %s", ([, handlers]) =>
    Effect.gen(function* () {
      const theirs = { TCP: { 443: { HTTPS: true } }, Web: { [at443]: { Handlers: handlers } } }
      const home = yield* fakeHome({ serve: theirs })
      const failure = yield* failureAt(yield* meshAt(home))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: true })
      assert.include(failure.reason, "8443 or 10000")
      assert.deepStrictEqual(home.state().serve, theirs)
      assert.deepStrictEqual(funnelCalls(home), [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses a port that funnels do not have", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const failure = yield* failureAt(yield* meshAt(home), { port: 8080 })
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: true })
      assert.strictEqual(home.callText(), "")
    }).pipe(Effect.scoped)
  )

  it.live.each(["not-enabled", "not-enabled-exits"] as const)(
    "says where funnels are allowed, when the program waits for that or ends: %s",
    (funnel) =>
      Effect.gen(function* () {
        const home = yield* fakeHome({ funnel })
        const mesh = yield* meshAt(home)
        const failure = yield* failureAt(mesh)
        const enableUrl = "https://login.tailscale.com/f/funnel?node=nABCDEFCNTRL"
        assert.deepInclude(failure, { _tag: "TunnelNeedsAuth", authUrl: enableUrl })
        assert.deepStrictEqual(yield* mesh.tools.notice, { authUrl: null, funnelNotEnabled: true, enableUrl })
        assert.isNull(home.record())
        home.change({ funnel: "ok" })
        const { stop } = yield* opening(mesh)
        assert.deepStrictEqual(yield* mesh.tools.notice, { authUrl: null, funnelNotEnabled: false, enableUrl: null })
        yield* stop
      }).pipe(Effect.scoped)
  )

  it.live("needs a login, with the address if there is one", () =>
    Effect.gen(function* () {
      const authUrl = "https://login.tailscale.com/a/0123456789abcdef"
      const home = yield* fakeHome({ backendState: "NeedsLogin", authUrl })
      const mesh = yield* meshAt(home)
      assert.deepInclude(yield* failureAt(mesh), { _tag: "TunnelNeedsAuth", authUrl })
      assert.deepStrictEqual(yield* mesh.tools.notice, { authUrl, funnelNotEnabled: false, enableUrl: null })
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["NeedsMachineAuth", "TunnelNeedsAuth"],
    ["Stopped", "TunnelNeedsAuth"],
    ["Starting", "TunnelFailed"],
    ["NoState", "TunnelFailed"]
  ] as const)("does not open in the state %s", ([backendState, tag]) =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ backendState })
      assert.strictEqual((yield* failureAt(yield* meshAt(home)))._tag, tag)
      assert.deepStrictEqual(funnelCalls(home), [])
    }).pipe(Effect.scoped)
  )

  it.live("can be tried again when the daemon does not run", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ daemon: false })
      const failure = yield* failureAt(yield* meshAt(home))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: false })
      assert.include(failure.reason, "daemon")
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["1.38.4", "new"],
    ["1.52.0", "old"]
  ] as const)("names an old version by its number, or by what it says: %s", ([version, grammar]) =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ version, grammar })
      const failure = yield* failureAt(yield* meshAt(home))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: true })
      assert.include(failure.reason, "too old")
    }).pipe(Effect.scoped)
  )

  it.live("says that Tailscale is not installed, or that the variable is wrong", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const without = { ...home, environment: new Map([...home.environment, ["PATH", "/nonexistent"]]) }
      const failure = yield* failureAt(yield* meshAt(without))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: true })
      assert.include(failure.reason, "not installed")
      const wrong = { ...home, environment: new Map([...home.environment, ["MESH_TUNNEL_BIN", "/nonexistent/x"]]) }
      assert.include((yield* failureAt(yield* meshAt(wrong))).reason, "MESH_TUNNEL_BIN")
    }).pipe(Effect.scoped)
  )

  it.live("takes the program of MESH_TUNNEL_BIN", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const environment = new Map([
        ["PATH", `/nonexistent:${join(process.execPath, "..")}`],
        ["HOME", home.folder],
        ["MESH_TUNNEL_BIN", join(home.folder, "bin", "tailscale")]
      ])
      const { stop } = yield* opening(yield* meshAt({ ...home, environment }))
      yield* stop
    }).pipe(Effect.scoped)
  )

  it.live("reads through a flood of output", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ floods: true })
      const failure = yield* failureAt(yield* meshAt(home))
      // Ten megabytes before the answer: it is none that Tailscale gives.
      assert.strictEqual(failure._tag, "TunnelFailed")
      assert.isBelow(failure.reason.length, 400)
    }).pipe(Effect.scoped)
  )

  it.live("shows what the program says when it cannot open it", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ funnel: "fails" })
      const failure = yield* failureAt(yield* meshAt(home))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: false })
      assert.include(failure.reason, "foreground already exists under this port")
      assert.isNull(home.record())
    }).pipe(Effect.scoped)
  )

  it.live("does not take a funnel within the network for an open one", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ funnel: "tailnet-only" })
      const failure = yield* failureAt(yield* meshAt(home))
      assert.include(failure.reason, "not to the internet")
      assert.deepStrictEqual(home.state().serve, { TCP: {}, Web: {} })
    }).pipe(Effect.scoped)
  )

  it.effect("ends a program that hangs", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ hangs: true })
      const mesh = yield* meshAt(home)
      const fiber = yield* Effect.fork(failureAt(mesh))
      yield* Effect.promise(() => eventually("its call", home.calls, (calls) => calls.length > 0))
      yield* TestClock.adjust("10 seconds")
      const failure = yield* Fiber.join(fiber)
      assert.strictEqual(failure._tag, "TunnelFailed")
    }).pipe(Effect.scoped)
  )

  it.live("fails when the funnel is closed by another", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const { fiber } = yield* opening(watched(yield* meshAt(home)))
      home.change({ serve: null })
      assert.include((yield* Effect.flip(Fiber.join(fiber))).reason, "has closed the funnel")
      assert.isNull(home.record())
    }).pipe(Effect.scoped)
  )

  it.live("fails when the daemon stays away, and keeps on file what it could not take back", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const mesh = watched(yield* meshAt(home))
      const { fiber } = yield* opening(mesh)
      home.change({ daemon: false })
      const failure = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: false })
      assert.deepStrictEqual(home.record(), { port: 443, target })
      assert.strictEqual((yield* Effect.flip(mesh.tools.takeBack(null)))._tag, "MeshToolFailed")
    }).pipe(Effect.scoped)
  )

  it.live("stays open while the daemon is away for a moment", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const { fiber, stop } = yield* opening(watched(yield* meshAt(home), 1_000))
      const looks = () => home.calls().length
      home.change({ daemon: false })
      const before = looks()
      yield* Effect.promise(() => eventually("two looks", looks, (count) => count >= before + 2))
      home.change({ daemon: true })
      const after = looks()
      yield* Effect.promise(() => eventually("two more looks", looks, (count) => count >= after + 4))
      assert.strictEqual((yield* fiber.poll)._tag, "None")
      yield* stop
    }).pipe(Effect.scoped)
  )
})

describe("a user who may not set up funnels", () => {
  it.live("goes through sudo without a password where that is allowed, also to take it back", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ denies: true }, null)
      const { stop } = yield* opening(yield* meshAt(home))
      yield* stop
      assert.isNull(home.record())
      const flags = home.calls().flatMap((call) => (call.program === "sudo" ? [call.flags ?? []] : []))
      assert.deepStrictEqual(flags, [["-n", "--"].slice(0, 1), ["-n"]])
    }).pipe(Effect.scoped)
  )

  it.live("gives the password to sudo on its standard input, and nowhere else", () =>
    Effect.gen(function* () {
      const password = "pa55 w0rd 'of sudo"
      const home = yield* fakeHome({ denies: true }, password)
      const mesh = yield* meshAt(home)
      const { stop } = yield* opening(mesh, { sudoPassword: Redacted.make(password) })
      assert.notInclude(home.callText(), password)
      const sudo = home.calls().filter((call) => call.program === "sudo")
      assert.deepStrictEqual(
        sudo.map(({ flags, isRefused }) => [flags, isRefused]),
        [
          [["-n"], true],
          [["-S", "-k", "-p", ""], false]
        ]
      )
      yield* stop
      // It is not kept, so what was opened with it cannot be taken back without it.
      assert.deepStrictEqual(home.record(), { port: 443, target })
      yield* mesh.tools.takeBack(Redacted.make(password))
      assert.isNull(home.record())
      assert.deepStrictEqual(home.state().serve, { TCP: {}, Web: {}, AllowFunnel: {} })
    }).pipe(Effect.scoped)
  )

  it.live("tries a wrong password once, and does not repeat it", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ denies: true }, "right")
      const failure = yield* failureAt(yield* meshAt(home), { sudoPassword: Redacted.make("wrong-and-secret") })
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: true })
      assert.include(failure.reason, "password")
      assert.notInclude(JSON.stringify(failure) + home.callText(), "wrong-and-secret")
      const tries = home.calls().filter(({ flags }) => flags?.includes("-S") === true)
      assert.lengthOf(tries, 1)
    }).pipe(Effect.scoped)
  )

  it.live("asks for a password when there is none", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ denies: true }, "right")
      const failure = yield* failureAt(yield* meshAt(home))
      assert.deepInclude(failure, { _tag: "TunnelFailed", isFinal: true })
      assert.include(failure.reason, "give the password")
    }).pipe(Effect.scoped)
  )

  it.live("does not hand a password with a line break to sudo", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ denies: true }, "right")
      const failure = yield* failureAt(yield* meshAt(home), { sudoPassword: Redacted.make("right\nsecret") })
      assert.include(failure.reason, "line break")
      assert.isFalse(home.calls().some(({ flags }) => flags?.includes("-S") === true))
    }).pipe(Effect.scoped)
  )

  it.live("is told when there is no sudo", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ denies: true })
      const environment = new Map([...home.environment, ["MESH_TUNNEL_BIN", join(home.folder, "bin", "tailscale")]])
      const failure = yield* failureAt(yield* meshAt({ ...home, environment }))
      assert.strictEqual(failure._tag, "TunnelFailed")
      assert.match(failure.reason, /sudo/u)
    }).pipe(Effect.scoped)
  )
})

describe("a funnel that a killed gateway has left", () => {
  const leave = (home: FakeHome) => {
    mkdirSync(join(home.folder, "data"))
    writeFileSync(join(home.folder, "data", "mesh-funnel.json"), JSON.stringify({ port: 443, target }))
  }

  it.live("is taken back at the next start", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ serve: ours })
      leave(home)
      yield* meshAt(home)
      yield* Effect.promise(() => eventually("the end of the record", home.record, (record) => record === null))
      assert.deepStrictEqual(home.state().serve, { TCP: {}, Web: {}, AllowFunnel: {} })
    }).pipe(Effect.scoped)
  )

  it.live("stays when it leads somewhere else by now", () =>
    Effect.gen(function* () {
      const theirs = { ...ours, Web: { [at443]: { Handlers: { "/": { Proxy: "http://127.0.0.1:3000" } } } } }
      const home = yield* fakeHome({ serve: theirs })
      leave(home)
      yield* meshAt(home)
      yield* Effect.promise(() => eventually("the end of the record", home.record, (record) => record === null))
      assert.deepStrictEqual(home.state().serve, theirs)
      assert.deepStrictEqual(funnelCalls(home), [])
    }).pipe(Effect.scoped)
  )

  it.live("is replaced when the tunnel is opened again, and not taken back after that", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({
        serve: { ...ours, Web: { [at443]: { Handlers: { "/": { Proxy: "http://127.0.0.1:39999" } } } } }
      })
      mkdirSync(join(home.folder, "data"))
      writeFileSync(
        join(home.folder, "data", "mesh-funnel.json"),
        JSON.stringify({ port: 443, target: "http://127.0.0.1:39999" })
      )
      const scope = yield* Scope.make()
      const mesh = yield* Scope.extend(meshAt(home), scope)
      const { stop } = yield* opening(mesh)
      assert.deepStrictEqual(home.record(), { port: 443, target })
      const serve = home.state().serve
      assert.deepInclude(serve as object, { Web: ours.Web })
      yield* stop
      yield* Scope.close(scope, Exit.void)
      assert.isNull(home.record())
    }).pipe(Effect.scoped)
  )

  it.live("is not searched for when the record is damaged", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ serve: ours })
      mkdirSync(join(home.folder, "data"))
      writeFileSync(join(home.folder, "data", "mesh-funnel.json"), '{"port": 22, "target": "http://10.0.0.1:22"}')
      const mesh = yield* meshAt(home)
      yield* mesh.tools.takeBack(null)
      assert.strictEqual(home.callText(), "")
    }).pipe(Effect.scoped)
  )
})
