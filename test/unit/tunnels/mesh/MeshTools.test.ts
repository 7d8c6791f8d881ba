import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { HostSystem } from "../../../../src/platform/HostSystem.ts"
import type { MeshProgress } from "../../../../src/net/tunnels/mesh/MeshTools.ts"
import { eventually } from "../../../support/eventually.ts"
import { debian, fakeHome, type FakeHome, type FakeState, meshAt } from "../../../support/tunnels/Mesh.ts"

const toolsAt = (home: FakeHome, host: HostSystem = debian) => Effect.map(meshAt(home, host), ({ tools }) => tools)

const upCalls = ({ calls }: FakeHome) => calls().filter(({ args }) => args?.[0] === "up")

describe("the check of the mesh program", () => {
  it.live.each([
    [{}, { installed: true, daemonRunning: true, loggedIn: true, version: "1.80.3", hostname: "box.tail1234.ts.net" }],
    [{ daemon: false }, { installed: true, daemonRunning: false, loggedIn: false, version: "1.80.3", hostname: null }],
    [
      { backendState: "NeedsLogin" },
      { installed: true, daemonRunning: true, loggedIn: false, version: "1.80.3", hostname: null }
    ],
    [{ floods: true }, { installed: true, daemonRunning: false, loggedIn: false, version: null, hostname: null }]
  ] as ReadonlyArray<readonly [Partial<FakeState>, object]>)("says what there is: %j", ([state, expected]) =>
    Effect.gen(function* () {
      const tools = yield* toolsAt(yield* fakeHome(state))
      assert.deepStrictEqual(yield* tools.check, expected)
    }).pipe(Effect.scoped)
  )

  it.live("says that nothing is installed", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const tools = yield* toolsAt({ ...home, environment: new Map([["PATH", "/nonexistent"]]) })
      assert.deepInclude(yield* tools.check, { installed: false, daemonRunning: false, loggedIn: false })
    }).pipe(Effect.scoped)
  )
})

describe("the login", () => {
  it.live("answers with the address while the program waits for the person, and ends with the gateway", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ backendState: "NeedsLogin" })
      const tools = yield* toolsAt(home)
      const authUrl = "https://login.tailscale.com/a/0123456789abcdef"
      assert.deepStrictEqual(yield* tools.login("box"), { authUrl, loggedIn: false })
      // Asked again, it is the same one: no second program waits.
      assert.deepStrictEqual(yield* tools.login("box"), { authUrl, loggedIn: false })
      assert.deepStrictEqual(
        upCalls(home).map(({ args }) => args),
        [["up", "--hostname=box"]]
      )
      home.change({ backendState: "Running" })
      assert.deepStrictEqual(yield* tools.login(null), { authUrl: null, loggedIn: true })
    }).pipe(Effect.scoped)
  )

  it.live("begins anew with another name", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ backendState: "NeedsLogin" })
      const tools = yield* toolsAt(home)
      yield* tools.login(null)
      home.change({ loginId: "fedcba9876543210" })
      const { authUrl } = yield* tools.login("other")
      assert.strictEqual(authUrl, "https://login.tailscale.com/a/fedcba9876543210")
      assert.lengthOf(upCalls(home), 2)
    }).pipe(Effect.scoped)
  )

  it.live("only changes the name of a machine that is logged in", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const tools = yield* toolsAt(home)
      assert.deepStrictEqual(yield* tools.login("box2"), { authUrl: null, loggedIn: true })
      assert.strictEqual(home.state().hostname, "--hostname=box2")
      assert.lengthOf(upCalls(home), 0)
    }).pipe(Effect.scoped)
  )

  it.live.each(["-x", "two words", "a;b", "x".repeat(64), "--auth-key=1", ""])("refuses the name %j", (name) =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ backendState: "NeedsLogin" })
      const tools = yield* toolsAt(home)
      assert.include((yield* Effect.flip(tools.login(name))).reason, "letters, digits and hyphens")
      assert.strictEqual(home.callText(), "")
    }).pipe(Effect.scoped)
  )

  it.live("says why it does not work", () =>
    Effect.gen(function* () {
      const failing = yield* toolsAt(yield* fakeHome({ backendState: "NeedsLogin", up: "fails" }))
      assert.include((yield* Effect.flip(failing.login(null))).reason, "invalid key")
      const down = yield* toolsAt(yield* fakeHome({ daemon: false }))
      assert.include((yield* Effect.flip(down.login(null))).reason, "daemon")
    }).pipe(Effect.scoped)
  )

  it.live("goes through sudo where this user may not log in", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ backendState: "NeedsLogin", up: "denied" }, null)
      const tools = yield* toolsAt(home)
      assert.isNotNull((yield* tools.login(null)).authUrl)
    }).pipe(Effect.scoped)
  )
})

describe("the installation", () => {
  const collected = (stream: Stream.Stream<MeshProgress, { readonly reason: string }>) =>
    Effect.gen(function* () {
      const events: Array<MeshProgress> = []
      const end = yield* Effect.either(Stream.runForEach(stream, (event) => Effect.sync(() => void events.push(event))))
      return { events, end }
    })

  /** Programs of the plan that are found by name. */
  const systemPrograms = ["mkdir", "chmod", "apt-get", "systemctl"]

  it.live("goes through the steps by sudo, tells each, and keeps the password to sudo", () =>
    Effect.gen(function* () {
      const password = "pa55w0rd-of-sudo"
      const home = yield* fakeHome({}, password)
      for (const name of systemPrograms) home.place(name)
      home.place("env", '#!/bin/sh\nexec /usr/bin/env "$@"\n')
      const tools = yield* toolsAt(home)
      const { end, events } = yield* collected(tools.install(Redacted.make(password)))
      assert.strictEqual(end._tag, "Right")
      const steps = events.map(({ step }) => step).filter((step, at, all) => step !== all[at - 1])
      assert.deepStrictEqual(steps, ["prepare", "key", "source", "update", "install", "start"])
      const percents = events.map(({ percent }) => percent ?? -1)
      assert.deepStrictEqual(
        percents,
        percents.toSorted((one, other) => one - other)
      )
      const commands = home
        .calls()
        .flatMap((call) => (call.isRefused === false ? [(call.command ?? []).join(" ")] : []))
      assert.isTrue(commands.some((command) => command.includes("/debian/bookworm.noarmor.gpg")))
      assert.isTrue(commands.some((command) => command.includes("apt-get install -y tailscale")))
      assert.notInclude(home.callText() + JSON.stringify(events), password)
    }).pipe(Effect.scoped)
  )

  it.live("ends with the step that fails, and tries a wrong password once", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({}, "right")
      for (const name of systemPrograms) home.place(name)
      const tools = yield* toolsAt(home)
      const { end, events } = yield* collected(tools.install(Redacted.make("wrong-and-secret")))
      assert.strictEqual(end._tag, "Left")
      if (end._tag === "Left") assert.include(end.left.reason, "wrong")
      assert.lengthOf(events, 1)
      assert.lengthOf(
        home.calls().filter(({ flags }) => flags?.includes("-S") === true),
        1
      )
      assert.notInclude(JSON.stringify(end) + home.callText(), "wrong-and-secret")
    }).pipe(Effect.scoped)
  )

  it.live("says what to do where it does not know how", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome()
      const tools = yield* toolsAt(home, { platform: "freebsd", isRoot: false, osRelease: new Map() })
      const { end, events } = yield* collected(tools.install(null))
      assert.lengthOf(events, 0)
      if (end._tag === "Left") assert.include(end.left.reason, "https://tailscale.com/download")
      assert.strictEqual(end._tag, "Left")
      assert.strictEqual(home.callText(), "")
    }).pipe(Effect.scoped)
  )

  it.live("stops with its reader", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({}, null)
      for (const name of systemPrograms) home.place(name)
      const tools = yield* toolsAt(home)
      const first = yield* Stream.runCollect(Stream.take(tools.install(null), 1))
      assert.strictEqual(Chunk.unsafeHead(first).step, "prepare")
      assert.lengthOf(home.calls(), 0)
    }).pipe(Effect.scoped)
  )
})

describe("the daemon", () => {
  it.live("is started as root, and waited for", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({ daemon: false }, null)
      home.place("systemctl")
      const tools = yield* toolsAt(home)
      const starting = yield* Effect.fork(tools.startDaemon(null))
      yield* Effect.promise(() =>
        eventually("sudo", () => home.calls().some(({ command }) => command?.includes("tailscaled") === true), Boolean)
      )
      home.change({ daemon: true })
      assert.deepInclude(yield* starting, { daemonRunning: true })
    }).pipe(Effect.scoped)
  )

  it.live("is left alone when it runs", () =>
    Effect.gen(function* () {
      const home = yield* fakeHome({}, null)
      const tools = yield* toolsAt(home)
      assert.deepInclude(yield* tools.startDaemon(null), { daemonRunning: true })
      assert.isFalse(home.calls().some(({ program }) => program === "sudo"))
    }).pipe(Effect.scoped)
  )
})
