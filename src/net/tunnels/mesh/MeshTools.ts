/** The mesh VPN's own program on this machine: whether it can be used, and what a person does to it (docs/tunnels.md). */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { failed, type MeshToolFailed } from "./Failures.ts"
import { carryOut, type MeshProgress } from "./Installing.ts"
import { daemonPlan, installPlan, type Plan } from "./InstallPlan.ts"
import { makeLogin, type LoggingIn } from "./Login.ts"
import { MeshFunnel, type MeshNotice } from "./MeshFunnel.ts"
import { versionIn } from "./Texts.ts"

export { MeshToolFailed } from "./Failures.ts"
export type { MeshProgress } from "./Installing.ts"
export type { MeshNotice } from "./MeshFunnel.ts"

export interface MeshCheck {
  readonly installed: boolean
  readonly daemonRunning: boolean
  readonly loggedIn: boolean
  /** Version; null: not installed, or not known. */
  readonly version: string | null
  /** `machine.network.ts.net`; null: it has none yet. */
  readonly hostname: string | null
}

export class MeshTools extends Context.Tag("gateway/net/tunnels/mesh/MeshTools")<
  MeshTools,
  {
    /** Returns the notice, as the last attempt to open the funnel has found it. */
    readonly notice: Effect.Effect<MeshNotice>
    readonly check: Effect.Effect<MeshCheck>
    /** Installs the program; each step as it begins. `sudoPassword` is used for this call only, as below. */
    readonly install: (sudoPassword: Redacted.Redacted | null) => Stream.Stream<MeshProgress, MeshToolFailed>
    readonly startDaemon: (sudoPassword: Redacted.Redacted | null) => Effect.Effect<MeshCheck, MeshToolFailed>
    /** Answers as soon as the address is known; Tailscale waits for the person. `hostname` null: the machine's own name. */
    readonly login: (hostname: string | null) => Effect.Effect<LoggingIn, MeshToolFailed>
    /** Removes the funnel of a tunnel that was closed, where that needs a password; does nothing where it is gone. */
    readonly takeBack: (sudoPassword: Redacted.Redacted | null) => Effect.Effect<void, MeshToolFailed>
  }
>() {}

const absent: MeshCheck = { installed: false, daemonRunning: false, loggedIn: false, version: null, hostname: null }

const loggedInStates: ReadonlySet<string> = new Set(["Running", "Starting", "Stopped"])

/** A daemon that was started opens its socket a little later. */
const daemonWait = { everyMs: 250, times: 40 }

export const make = Effect.gen(function* () {
  const { client, notice, takeBack } = yield* MeshFunnel
  const login = yield* makeLogin(client, yield* Effect.scope)

  const check = Effect.gen(function* () {
    const program = yield* Effect.either(client.binary)
    if (Either.isLeft(program)) return absent
    const asked = yield* Effect.either(client.run(program.right, ["version"]))
    const version = Either.isLeft(asked) ? null : versionIn(asked.right.stdout)
    const state = Either.getOrElse(yield* Effect.either(client.state), () => null)
    if (state === null) return { ...absent, installed: true, version }
    const loggedIn = loggedInStates.has(state.backendState)
    return { installed: true, daemonRunning: true, loggedIn, version, hostname: loggedIn ? state.hostname : null }
  }).pipe(Effect.withSpan("MeshTools.check"))

  const installedAmong = (names: ReadonlyArray<string>): Effect.Effect<(name: string) => boolean> =>
    Effect.map(
      Effect.filter(names, (name) => Effect.map(client.find(name), (path) => path !== null)),
      (found) => (name) => found.includes(name)
    )

  const planned = (of: typeof installPlan): Effect.Effect<Plan> =>
    Effect.map(installedAmong(["brew", "systemctl", "rc-service"]), (has) => of(client.host, has))

  const install = (sudoPassword: Redacted.Redacted | null): Stream.Stream<MeshProgress, MeshToolFailed> =>
    Stream.unwrap(Effect.map(planned(installPlan), (plan) => carryOut(client, plan, sudoPassword)))

  const startDaemon = Effect.fn("MeshTools.startDaemon")(function* (sudoPassword: Redacted.Redacted | null) {
    const before = yield* check
    if (!before.installed) return yield* Effect.zipRight(client.binary, failed("Tailscale is not installed."))
    if (before.daemonRunning) return before
    yield* Stream.runDrain(carryOut(client, yield* planned(daemonPlan), sudoPassword))
    const after = yield* Effect.repeat(check, {
      schedule: Schedule.intersect(Schedule.spaced(daemonWait.everyMs), Schedule.recurs(daemonWait.times)),
      until: ({ daemonRunning }) => daemonRunning
    }).pipe(Effect.zipRight(check))
    return after.daemonRunning ? after : yield* failed("The daemon of Tailscale was started, but does not answer.")
  })

  return MeshTools.of({ notice, check, install, startDaemon, login, takeBack })
})

export const layer: Layer.Layer<MeshTools, never, MeshFunnel> = Layer.scoped(MeshTools, make)
