/** The tunnels of this gateway (docs/tunnels.md). Several may be open at once, one of each backend. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { makeLane } from "../../kernel/Lane.ts"
import { TunnelBackend, type TunnelStatus } from "../../subjects/tunnels/entity.ts"
import { Flags } from "../../subjects/flags/service.ts"
import type { StoreError } from "../../store/Errors.ts"
import { TunnelRepo } from "../../subjects/tunnels/repo.ts"
import { Backends } from "./Backends.ts"
import { type EnableTunnel, fromStored, problemOf, toStored } from "./Enable.ts"
import * as Supervisor from "./Supervisor.ts"
import type { TunnelEntrance } from "./TunnelEntrance.ts"

export type { EnableTunnel } from "./Enable.ts"

/** A gateway that requires no API key is opened to the internet only when that is asked for by name. */
export class KeysRequired extends Data.TaggedError("KeysRequired")<{ readonly backend: TunnelBackend }> {}

/** An option cannot be used. */
export class InvalidTunnelOption extends Data.TaggedError("InvalidTunnelOption")<{
  readonly field: string
  readonly message: string
}> {}

export class Tunnels extends Context.Tag("gateway/net/tunnels/Tunnels")<
  Tunnels,
  {
    /** All backends in the order of `TunnelBackend`. */
    readonly list: Effect.Effect<ReadonlyArray<TunnelStatus>>
    /**
     * Returns the status of a tunnel of an account: `needs_auth` also before the first try, while no token is known.
     */
    readonly status: (backend: TunnelBackend) => Effect.Effect<TunnelStatus>
    /** The status of one backend: now, and at every change. */
    readonly changes: (backend: TunnelBackend) => Stream.Stream<TunnelStatus>
    /**
     * Opens it and answers when it is open, has failed or waits for a person, at the latest after 30 seconds with what it is then. One
     * that is open with the same options stays as it is; with others it is opened anew.
     */
    readonly enable: (
      tunnel: EnableTunnel
    ) => Effect.Effect<TunnelStatus, KeysRequired | InvalidTunnelOption | StoreError>
    /** Disables it, and waits until nothing of it is left. */
    readonly disable: (backend: TunnelBackend) => Effect.Effect<TunnelStatus, StoreError>
    /** Hot: the host names under which tunnels are open now, in lower case and without ports, IPv6 addresses without brackets. */
    readonly publicHosts: () => ReadonlySet<string>
    /** Hot: tells whether an open tunnel may carry requests while no API key is required. */
    readonly allowsKeyless: () => boolean
  }
>() {}

/** Time in ms that `enable` waits for the tunnel. */
export const enableWaitMs = 30_000

const keysRequired =
  "This gateway requires no API key, and this tunnel may not be open without keys. Set REQUIRE_API_KEY=true, or enable the tunnel with allowKeyless."

const unreadable = "What is stored of this tunnel cannot be read. Enable it again."

const hostOf = (publicUrl: string): string => new URL(publicUrl).hostname.replace(/^\[|\]$/g, "")

const isSettled = (status: TunnelStatus): boolean => status.phase !== "starting"

/** Sums up the open tunnels of a gateway. */
interface OpenTunnels {
  readonly hosts: ReadonlySet<string>
  readonly isKeylessAllowed: boolean
}

const openOf = (statuses: ReadonlyArray<TunnelStatus>): OpenTunnels => {
  const open = statuses.filter((status) => status.running)
  return {
    hosts: new Set(open.flatMap(({ publicUrl }) => (publicUrl === null ? [] : [hostOf(publicUrl)]))),
    // They share one entrance, so one that must have keys decides for all.
    isKeylessAllowed: open.length > 0 && open.every((status) => status.allowKeyless)
  }
}

/** Makes a supervisor for each backend. */
const makeSupervisors = Effect.gen(function* () {
  const backends = yield* Backends
  let together = openOf([])
  const onChange = (): void => {
    together = openOf(list())
  }
  const supervisors = {
    quick: yield* Supervisor.make(backends.quick, onChange),
    token: yield* Supervisor.make(backends.token, onChange),
    mesh: yield* Supervisor.make(backends.mesh, onChange),
    ssh: yield* Supervisor.make(backends.ssh, onChange)
  }
  const list = (): ReadonlyArray<TunnelStatus> => TunnelBackend.literals.map((backend) => supervisors[backend].now())
  return {
    supervisors,
    list,
    publicHosts: (): ReadonlySet<string> => together.hosts,
    allowsKeyless: (): boolean => together.isKeylessAllowed
  }
})

type Supervisors = Effect.Effect.Success<typeof makeSupervisors>["supervisors"]

const startTunnel = (
  supervisors: Supervisors,
  tunnel: EnableTunnel,
  authToken: Redacted.Redacted | null
): Effect.Effect<void> => {
  const { allowKeyless } = tunnel
  switch (tunnel.backend) {
    case "quick":
      return supervisors.quick.start({}, allowKeyless)
    case "token":
      return supervisors.token.start({ authToken }, allowKeyless)
    case "mesh": {
      const later = { port: tunnel.port, sudoPassword: null }
      return supervisors.mesh.start({ ...later, sudoPassword: tunnel.sudoPassword }, allowKeyless, later)
    }
    case "ssh": {
      const { host, hostKey, port, remotePort, user } = tunnel
      return supervisors.ssh.start({ host, hostKey, port, remotePort, user }, allowKeyless)
    }
  }
}

/** Makes the switches of tunnels, with what is stored of them. */
const makeSwitches = (supervisors: Supervisors) =>
  Effect.gen(function* () {
    const flags = yield* Flags
    const repo = yield* TunnelRepo
    const oneAtATime = makeLane(1)
    /** The options that each was opened with last. */
    const opened = new Map<TunnelBackend, string>()

    const isKeyless = (allowKeyless: boolean): boolean => !allowKeyless && !flags.isOn("REQUIRE_API_KEY")

    /** Stores that it is to be open, and opens it unless it is open like this. */
    const open = (tunnel: EnableTunnel) =>
      Effect.gen(function* () {
        const { allowKeyless, backend } = tunnel
        const stored = toStored(tunnel)
        const before = yield* repo.get(backend)
        const sent = tunnel.backend === "token" ? tunnel.authToken : null
        const secret = sent ?? before?.secret ?? null
        yield* repo.save({
          backend,
          isEnabled: true,
          allowKeyless,
          options: stored,
          secret,
          updatedAtMs: yield* Clock.currentTimeMillis
        })
        const known = before?.secret ?? null
        const isNewSecret = sent !== null && (known === null || Redacted.value(known) !== Redacted.value(sent))
        const key = JSON.stringify([stored, allowKeyless])
        const { phase } = supervisors[backend].now()
        const isOpen = phase === "running" || phase === "starting"
        if (isOpen && !isNewSecret && opened.get(backend) === key) return
        opened.set(backend, key)
        yield* startTunnel(supervisors, tunnel, secret)
      }).pipe(Effect.uninterruptible, oneAtATime.inTurn)

    const disable = Effect.fn("Tunnels.disable")((backend: TunnelBackend) =>
      Effect.gen(function* () {
        yield* repo.disable(backend, yield* Clock.currentTimeMillis)
        opened.delete(backend)
        yield* supervisors[backend].stop
        return yield* supervisors[backend].status
      }).pipe(Effect.uninterruptible, oneAtATime.inTurn)
    )

    /** Opens what was open when the gateway ended. */
    const resume = Effect.gen(function* () {
      for (const row of yield* repo.list) {
        const { allowKeyless, backend } = row
        const supervisor = supervisors[backend]
        if (!row.isEnabled || supervisor.now().phase !== "stopped") continue
        const tunnel = fromStored(backend, allowKeyless, row.options)
        if (tunnel === null) yield* supervisor.refuse(unreadable, allowKeyless)
        else if (isKeyless(allowKeyless)) yield* supervisor.refuse(keysRequired, allowKeyless)
        else {
          opened.set(backend, JSON.stringify([toStored(tunnel), allowKeyless]))
          yield* startTunnel(supervisors, tunnel, row.secret)
        }
      }
    }).pipe(
      oneAtATime.inTurn,
      Effect.catchAll((error) => Effect.logError("Stored tunnels cannot be opened", error)),
      Effect.withSpan("Tunnels.resume")
    )

    return { isKeyless, open, disable, resume }
  })

/** Returns the status. A tunnel of an account reports what it lacks before the first try to open it. */
const makeStatusOf = (supervisors: Supervisors) =>
  Effect.gen(function* () {
    const { token } = yield* Backends
    const repo = yield* TunnelRepo
    return Effect.fnUntraced(function* (backend: TunnelBackend) {
      const now = yield* supervisors[backend].status
      if (backend !== "token" || now.phase !== "stopped") return now
      const stored = yield* Effect.orElseSucceed(repo.get("token"), () => null)
      const lacks = token.lacks?.({ authToken: stored?.secret ?? null }) ?? null
      if (lacks === null) return now
      return { ...now, phase: "needs_auth" as const, lastError: lacks.reason, authUrl: lacks.authUrl }
    })
  })

export const make = Effect.gen(function* () {
  const { allowsKeyless, list, publicHosts, supervisors } = yield* makeSupervisors
  const { disable, isKeyless, open, resume } = yield* makeSwitches(supervisors)

  const enable = Effect.fn("Tunnels.enable")(function* (tunnel: EnableTunnel) {
    const problem = problemOf(tunnel)
    if (problem !== null) return yield* new InvalidTunnelOption(problem)
    if (isKeyless(tunnel.allowKeyless)) return yield* new KeysRequired({ backend: tunnel.backend })
    yield* open(tunnel)
    const supervisor = supervisors[tunnel.backend]
    const settled = yield* supervisor.changes.pipe(
      Stream.filter(isSettled),
      Stream.runHead,
      Effect.timeoutTo({ duration: enableWaitMs, onSuccess: (found) => found, onTimeout: () => Option.none() })
    )
    return Option.isSome(settled) ? settled.value : yield* supervisor.status
  })

  yield* Effect.forkScoped(resume)

  return Tunnels.of({
    list: Effect.sync(list),
    status: yield* makeStatusOf(supervisors),
    changes: (backend) => supervisors[backend].changes,
    enable,
    disable,
    publicHosts,
    allowsKeyless
  })
})

export const layer: Layer.Layer<Tunnels, never, Backends | Flags | TunnelRepo | TunnelEntrance> = Layer.scoped(
  Tunnels,
  make
)
