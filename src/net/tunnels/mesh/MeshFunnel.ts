/** The funnel of this machine: opens it, looks after it, and takes it back. One change at a time. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { makeLane } from "../../../kernel/Lane.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { type HostSystem, readHostSystem } from "../../../platform/HostSystem.ts"
import { SupervisedPrograms } from "../../../platform/programs/SupervisedProgram.ts"
import { TunnelFailed, TunnelNeedsAuth } from "../Backend.ts"
import type { CommandResult } from "./Command.ts"
import { failed, type MeshToolFailed } from "./Failures.ts"
import { type FunnelRecord, type FunnelRecords, makeFunnelRecords } from "./FunnelRecord.ts"
import { cleaned, makeMeshClient, type MeshClient } from "./MeshClient.ts"
import { conflictWith, type MeshState, type PortUse, readPortUse, servesAtRoot } from "./Status.ts"
import {
  isAlreadyOff,
  isDaemonDown,
  isOldGrammar,
  lastWords,
  makeNotEnabledEnd,
  type NotEnabled,
  notEnabledIn,
  oldGrammarReason,
  saysOldGrammar,
  versionIn
} from "./Texts.ts"

/** https://tailscale.com/kb/1223/funnel#limitations */
export const funnelPorts = [443, 8443, 10_000] as const
export type FunnelPort = (typeof funnelPorts)[number]

export const isFunnelPort = (port: number): port is FunnelPort => funnelPorts.some((one) => one === port)

/** Notice of what a person has to do before a funnel opens. */
export interface MeshNotice {
  /** Address at which this machine is logged in; null: it is, or the address is not known. */
  readonly authUrl: string | null
  /** The network does not allow funnels yet. */
  readonly funnelNotEnabled: boolean
  /** Address at which funnels are allowed; null: they are, or the address is not known. */
  readonly enableUrl: string | null
}

export const noNotice: MeshNotice = { authUrl: null, funnelNotEnabled: false, enableUrl: null }

export interface OpenFunnel {
  readonly port: FunnelPort
  /** `http://127.0.0.1:port` */
  readonly target: string
  readonly sudoPassword: Redacted.Redacted | null
}

export class MeshFunnel extends Context.Tag("gateway/net/tunnels/mesh/MeshFunnel")<
  MeshFunnel,
  {
    readonly client: MeshClient
    /** Opens it, and gives its address without a trailing slash. */
    readonly open: (funnel: OpenFunnel) => Effect.Effect<string, TunnelFailed | TunnelNeedsAuth>
    /** Checks whether the funnel is open; fails when that is not known. */
    readonly isOpen: (funnel: Pick<OpenFunnel, "port" | "target">) => Effect.Effect<boolean, MeshToolFailed>
    /** Removes the funnels that this gateway has opened; does nothing where there are none. */
    readonly takeBack: (sudoPassword: Redacted.Redacted | null) => Effect.Effect<void, MeshToolFailed>
    /** Returns the notice, as the last attempt to open it has found it. */
    readonly notice: Effect.Effect<MeshNotice>
  }
>() {}

/** Certificates may be fetched while it is opened. */
const openMs = 30_000
/** Pause in ms before the next try to remove leftovers, where the daemon does not run. */
const leftoverEveryMs = 30_000

const addressOf = (hostname: string, port: number): string => `https://${hostname}${port === 443 ? "" : `:${port}`}`

const adminPage = "https://login.tailscale.com/admin/machines"

/** Null: it can be used. */
export const stateProblem = (state: MeshState | null): TunnelFailed | TunnelNeedsAuth | null => {
  switch (state?.backendState) {
    case undefined:
      return new TunnelFailed({ reason: "The daemon of Tailscale does not run on this machine.", isFinal: false })
    case "Running":
      return null
    case "NeedsLogin":
      return new TunnelNeedsAuth({
        reason: "This machine is not logged in to Tailscale.",
        authUrl: state?.authUrl ?? null
      })
    case "NeedsMachineAuth":
      return new TunnelNeedsAuth({
        reason: "An administrator of the Tailscale network has to approve this machine.",
        authUrl: adminPage
      })
    case "Stopped":
      return new TunnelNeedsAuth({
        reason: "Tailscale is switched off on this machine: run 'tailscale up'.",
        authUrl: null
      })
    default:
      return new TunnelFailed({ reason: "Tailscale is not connected yet.", isFinal: false })
  }
}

const passing = ({ reason }: MeshToolFailed): TunnelFailed => new TunnelFailed({ reason, isFinal: false })
const final = (reason: string): TunnelFailed => new TunnelFailed({ reason, isFinal: true })

const funnelArgs = (port: number, ...rest: ReadonlyArray<string>): ReadonlyArray<string> => [
  "funnel",
  `--https=${port}`,
  ...rest
]

/** `reset` would take handlers of the user, too: only the root of our port is removed. */
const offArgs = (port: number): ReadonlyArray<string> => funnelArgs(port, "--set-path=/", "--yes", "off")
const onArgs = (port: number, target: string): ReadonlyArray<string> => funnelArgs(port, "--bg", "--yes", target)

const notEnabledProblem = ({ enableUrl }: NotEnabled): TunnelNeedsAuth =>
  new TunnelNeedsAuth({
    reason: `Funnels are not allowed in this Tailscale network yet.${enableUrl === null ? "" : " Allow them at the address given."}`,
    authUrl: enableUrl
  })

/** Reads its output when it was opened, if that was not simply that it is open. */
const openProblem = (result: CommandResult, clean: (text: string) => string): TunnelFailed | TunnelNeedsAuth | null => {
  if (saysOldGrammar(result)) return final("This version of Tailscale is too old, or another program has its name.")
  if (isDaemonDown(result)) return stateProblem(null)
  if (result.code === 0) return null
  if (result.stoppedBy === "time") return passing(failed("Tailscale did not open the funnel in time."))
  const said = lastWords(result, clean)
  return passing(failed(`Tailscale could not open the funnel${said === "" ? "." : `: ${said}`}`))
}

const readUse = (client: MeshClient, hostname: string, port: number): Effect.Effect<PortUse, MeshToolFailed> =>
  Effect.gen(function* () {
    const result = yield* client.tailscale(["funnel", "status", "--json"], null)
    const use = result.code === 0 ? readPortUse(result.stdout, hostname, port) : null
    return use ?? (yield* failed("Tailscale does not say what it serves."))
  })

const requireVersion = (client: MeshClient) =>
  Effect.gen(function* () {
    const program = yield* Effect.mapError(client.binary, ({ reason }) => final(reason))
    const version = versionIn((yield* Effect.mapError(client.run(program, ["version"]), passing)).stdout)
    if (version === null) return yield* final("The program named 'tailscale' says no version: it is not Tailscale's.")
    if (isOldGrammar(version)) return yield* final(oldGrammarReason(version))
  })

/** Takes back what this gateway has opened; `not-yet`: the daemon does not run. */
const turnOff = (
  client: MeshClient,
  records: FunnelRecords,
  record: FunnelRecord,
  sudoPassword: Redacted.Redacted | null
): Effect.Effect<"done" | "not-yet", MeshToolFailed> =>
  Effect.gen(function* () {
    const hostname = (yield* client.state)?.hostname ?? null
    if (hostname === null) return "not-yet"
    const use = yield* readUse(client, hostname, record.port)
    // What a person has set up there since is theirs.
    if (servesAtRoot(use, record.target)) {
      const result = yield* client.tailscale(offArgs(record.port), sudoPassword)
      if (result.code !== 0 && !isAlreadyOff(result)) {
        return yield* failed(`Tailscale did not take the funnel back: ${lastWords(result, cleaned(sudoPassword))}`)
      }
    }
    yield* records.remove
    return "done"
  })

const requireFreePort = (
  client: MeshClient,
  hostname: string,
  { port, target }: OpenFunnel,
  left: FunnelRecord | null
) =>
  Effect.gen(function* () {
    const use = yield* Effect.mapError(readUse(client, hostname, port), passing)
    const isOurs = left !== null && left.port === port && servesAtRoot(use, left.target)
    const conflict = isOurs ? null : conflictWith(use, target)
    if (conflict === null) return
    const others = funnelPorts.filter((one) => one !== port).join(" or ")
    return yield* final(`Port ${port} of Tailscale ${conflict}. Take that away, or use port ${others}.`)
  })

/** Tells Tailscale to open it, and checks that it has. */
const turnOn = (
  client: MeshClient,
  hostname: string,
  { port, sudoPassword, target }: OpenFunnel,
  inform: (notice: MeshNotice) => void
) =>
  Effect.gen(function* () {
    const result = yield* Effect.mapError(
      client.tailscale(onArgs(port, target), sudoPassword, { timeoutMs: openMs, isEnough: makeNotEnabledEnd() }),
      // Who may not set it up needs a password, which only a person has.
      ({ reason }) => final(reason)
    )
    // First of all: with some versions the program ends with 0 then, with others it waits.
    const notEnabled = notEnabledIn(`${result.stdout}\n${result.stderr}`)
    if (notEnabled !== null) {
      inform({ ...noNotice, funnelNotEnabled: true, enableUrl: notEnabled.enableUrl })
      return yield* notEnabledProblem(notEnabled)
    }
    const problem = openProblem(result, cleaned(sudoPassword))
    if (problem !== null) return yield* problem
    const use = yield* Effect.mapError(readUse(client, hostname, port), passing)
    if (!servesAtRoot(use, target) || !use.isPublic) {
      return yield* passing(failed("Tailscale serves the gateway in its network only, not to the internet."))
    }
    return addressOf(hostname, port)
  })

/** The name of this machine in a network that it is connected to. */
const connectedName = (client: MeshClient, inform: (notice: MeshNotice) => void) =>
  Effect.gen(function* () {
    const state = yield* Effect.mapError(client.state, passing)
    const problem = stateProblem(state)
    if (problem?._tag === "TunnelNeedsAuth") inform({ ...noNotice, authUrl: problem.authUrl })
    if (problem !== null) return yield* problem
    const hostname = state?.hostname ?? null
    return hostname ?? (yield* passing(failed("Tailscale has no name for this machine yet.")))
  })

const openFunnel = (
  client: MeshClient,
  records: FunnelRecords,
  funnel: OpenFunnel,
  inform: (notice: MeshNotice) => void
) =>
  Effect.gen(function* () {
    const { port, sudoPassword, target } = funnel
    yield* requireVersion(client)
    const hostname = yield* connectedName(client, inform)
    const left = yield* records.read
    // Another port than ours of now: a change of options, or left by a gateway that was killed.
    if (left !== null && left.port !== port) {
      yield* Effect.mapError(turnOff(client, records, left, sudoPassword), passing)
    }
    yield* requireFreePort(client, hostname, funnel, left)
    // Before it is opened: a gateway that is killed in between still finds it.
    yield* Effect.mapError(records.write({ port, target }), () =>
      final("The gateway cannot write to its data folder, and so could not take the funnel back later.")
    )
    return yield* turnOn(client, hostname, funnel, inform)
  })

/** Takes back a funnel that was left open; what cannot be taken back is told to the operator. */
const turnOffLeftover = (client: MeshClient, records: FunnelRecords, record: FunnelRecord) =>
  Effect.gen(function* () {
    yield* Effect.logInfo("A funnel of Tailscale was left open; it is taken back", { port: record.port })
    return yield* turnOff(client, records, record, null).pipe(
      Effect.catchAll(({ reason }) =>
        Effect.as(
          Effect.logWarning("A funnel of Tailscale was left open and could not be taken back", {
            reason,
            command: `sudo tailscale ${offArgs(record.port).join(" ")}`
          }),
          "done" as const
        )
      )
    )
  })

export const makeFunnel = Effect.fn("MeshFunnel.make")(function* (client: MeshClient, records: FunnelRecords) {
  const oneAtATime = makeLane(1).inTurn
  let notice = noNotice
  /** True from the first try to open it until it is removed. */
  let isWanted = false

  const takeBack = Effect.fn("MeshFunnel.takeBack")((sudoPassword: Redacted.Redacted | null) =>
    oneAtATime(
      Effect.gen(function* () {
        isWanted = false
        const record = yield* records.read
        if (record === null || (yield* turnOff(client, records, record, sudoPassword)) === "done") return
        return yield* failed("The funnel was not taken back: the daemon of Tailscale does not run.")
      })
    )
  )

  /**
   * Removes leftovers, once more later where the daemon does not run yet. Does nothing once a funnel is wanted: opening
   * it takes care of them.
   */
  const takeBackLeftovers = oneAtATime(
    Effect.gen(function* () {
      const record = yield* records.read
      return isWanted || record === null ? "done" : yield* turnOffLeftover(client, records, record)
    })
  ).pipe(
    Effect.repeat({ schedule: Schedule.spaced(leftoverEveryMs), while: (outcome) => outcome === "not-yet" }),
    Effect.asVoid
  )

  const open = Effect.fn("MeshFunnel.open")((funnel: OpenFunnel) =>
    oneAtATime(
      Effect.suspend(() => {
        notice = noNotice
        isWanted = true
        return openFunnel(client, records, funnel, (found) => {
          notice = found
        })
      })
    )
  )

  const isOpen = Effect.fn("MeshFunnel.isOpen")(function* ({ port, target }: Pick<OpenFunnel, "port" | "target">) {
    const state = yield* client.state
    if (state === null) return yield* failed("The daemon of Tailscale does not run.")
    if (state.backendState !== "Running" || state.hostname === null) return false
    const use = yield* readUse(client, state.hostname, port)
    return servesAtRoot(use, target) && use.isPublic
  })

  return {
    funnel: MeshFunnel.of({ client, open, isOpen, takeBack, notice: Effect.sync(() => notice) }),
    takeBackLeftovers
  }
})

/** `host`: what this machine is. */
export const makeWith = (host: HostSystem) =>
  Effect.gen(function* () {
    const { dataDir, environment } = yield* AppConfig
    const records = makeFunnelRecords(dataDir)
    const client = makeMeshClient(yield* SupervisedPrograms, environment, host)
    const { funnel, takeBackLeftovers } = yield* makeFunnel(client, records)
    // In the background: Tailscale may take its time.
    yield* Effect.forkScoped(takeBackLeftovers)
    return funnel
  })

export const layer: Layer.Layer<MeshFunnel, never, AppConfig | SupervisedPrograms> = Layer.scoped(
  MeshFunnel,
  Effect.flatMap(readHostSystem, makeWith)
)
