/** Tunnels without a program or service behind them: what is opened has an address of its own, and its traffic really enters by the tunnels' listener. */
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { TunnelBackend, type TunnelStatus } from "../../src/subjects/tunnels/entity.ts"
import { Flags } from "../../src/subjects/flags/service.ts"
import {
  type MeshCheck,
  type MeshNotice,
  type MeshProgress,
  MeshToolFailed,
  MeshTools
} from "../../src/net/tunnels/mesh/MeshTools.ts"
import { TunnelEntrance } from "../../src/net/tunnels/TunnelEntrance.ts"
import { type EnableTunnel, InvalidTunnelOption, KeysRequired, Tunnels } from "../../src/net/tunnels/Tunnels.ts"

export const publicHost = "calls.tunnel.example"

export interface FakeTunnels {
  readonly layer: Layer.Layer<Tunnels | MeshTools, never, TunnelEntrance | Flags>
  /** Requests to open a tunnel, in this order. */
  readonly enabled: ReadonlyArray<EnableTunnel>
  /** Sets the outcome of the next one in place of an open tunnel. */
  readonly next: (outcome: Partial<TunnelStatus> | InvalidTunnelOption) => void
  /** Makes all tunnels from now on, whatever was asked for, as if they had been opened while keys were required. */
  readonly forbidKeyless: () => void
  /** Passwords and names that the mesh tools were given; null: none. */
  readonly given: Array<unknown>
  notice: MeshNotice
  check: MeshCheck
  progress: Stream.Stream<MeshProgress, MeshToolFailed>
}

const stopped = (backend: TunnelBackend): TunnelStatus => ({
  backend,
  phase: "stopped",
  running: false,
  publicUrl: null,
  apiUrl: null,
  targetUrl: null,
  lastError: null,
  warning: backend === "quick" ? "It cannot carry server-sent events." : null,
  sinceMs: 1_760_000_000_000,
  restarts: 0,
  allowKeyless: false
})

export const make = (): FakeTunnels => {
  const enabled: Array<EnableTunnel> = []
  let isForbidden = false
  let scripted: Partial<TunnelStatus> | InvalidTunnelOption | null = null

  const tunnels = Effect.gen(function* () {
    const entrance = yield* TunnelEntrance
    const flags = yield* Flags
    const scope = yield* Effect.scope
    const states = yield* SubscriptionRef.make(new Map(TunnelBackend.literals.map((name) => [name, stopped(name)])))
    const scopes = new Map<TunnelBackend, Scope.CloseableScope>()
    const statuses = () => Effect.runSync(SubscriptionRef.get(states))
    const set = (status: TunnelStatus) =>
      Effect.as(
        SubscriptionRef.update(states, (all) => new Map(all).set(status.backend, status)),
        status
      )
    const close = (backend: TunnelBackend) =>
      Effect.suspend(() => {
        const open = scopes.get(backend)
        scopes.delete(backend)
        return open === undefined ? Effect.void : Scope.close(open, Exit.void)
      })
    const statusOf = (all: ReadonlyMap<TunnelBackend, TunnelStatus>, backend: TunnelBackend): TunnelStatus =>
      all.get(backend) ?? stopped(backend)

    return Tunnels.of({
      list: Effect.map(SubscriptionRef.get(states), (all) => [...all.values()]),
      status: (backend) => Effect.map(SubscriptionRef.get(states), (all) => statusOf(all, backend)),
      changes: (backend) => Stream.map(states.changes, (all) => statusOf(all, backend)),
      enable: (tunnel) =>
        Effect.gen(function* () {
          const { allowKeyless, backend } = tunnel
          enabled.push(tunnel)
          const outcome = scripted
          scripted = null
          if (outcome instanceof InvalidTunnelOption) return yield* outcome
          if (!allowKeyless && !flags.isOn("REQUIRE_API_KEY")) return yield* new KeysRequired({ backend })
          yield* close(backend)
          if (outcome !== null) return yield* set({ ...stopped(backend), ...outcome })
          const own = yield* Scope.fork(scope, ExecutionStrategy.sequential)
          scopes.set(backend, own)
          const { port } = yield* Effect.orDie(Scope.extend(entrance.open, own))
          return yield* set({
            ...stopped(backend),
            phase: "running",
            running: true,
            publicUrl: `https://${publicHost}`,
            apiUrl: `https://${publicHost}/v1`,
            targetUrl: `http://127.0.0.1:${port}`,
            allowKeyless
          })
        }),
      disable: (backend) => Effect.zipRight(close(backend), set(stopped(backend))),
      publicHosts: () => new Set([...statuses().values()].some(({ running }) => running) ? [publicHost] : []),
      allowsKeyless: () =>
        !isForbidden && [...statuses().values()].some(({ allowKeyless, running }) => running && allowKeyless)
    })
  })

  const fake: Omit<FakeTunnels, "layer"> = {
    enabled,
    next: (outcome) => void (scripted = outcome),
    forbidKeyless: () => void (isForbidden = true),
    given: [],
    notice: { authUrl: null, funnelNotEnabled: false, enableUrl: null },
    check: { installed: true, daemonRunning: true, loggedIn: false, version: "1.84.0", hostname: null },
    progress: Stream.make(
      { step: "download", message: "Downloading the program.", percent: 40 },
      { step: "install", message: "Installing it.", percent: null }
    )
  }
  const mesh = MeshTools.of({
    notice: Effect.sync(() => fake.notice),
    check: Effect.sync(() => fake.check),
    install: (password) => {
      fake.given.push(password)
      return fake.progress
    },
    startDaemon: (password) =>
      Effect.sync(() => {
        fake.given.push(password)
        return fake.check
      }),
    takeBack: (password) => Effect.sync(() => void fake.given.push(password)),
    login: (hostname) =>
      Effect.suspend(() => {
        fake.given.push(hostname)
        return hostname === "refused"
          ? Effect.fail(new MeshToolFailed({ reason: "The service does not answer." }))
          : Effect.succeed({ authUrl: "https://login.mesh.example/a/1", loggedIn: false })
      })
  })
  return Object.assign(fake, {
    layer: Layer.merge(Layer.scoped(Tunnels, tunnels), Layer.succeed(MeshTools, mesh))
  })
}
