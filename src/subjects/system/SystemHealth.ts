/** Checks whether the gateway can serve: its breakers, connections and usage log in a few numbers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../../plane/providers/Catalog.ts"
import * as Registry from "../../plane/providers/Registry.ts"
import { SharedValkey } from "../../plane/state/SharedValkey.ts"
import { SharedDatabase } from "../../plane/state/SharedDatabase.ts"
import type { BreakerView } from "../../plane/resilience/breaker/Breakers.ts"
import type { WorkerProcess } from "../../platform/programs/Siblings.ts"
import { WorkersBeside } from "../../platform/programs/SiblingWorkers.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { type AccountState, Resilience } from "../resilience/service.ts"
import { countStandings, type StandingCounts } from "../connections/Standings.ts"

export interface HealthReport {
  /** `degraded`: a connected provider's breaker is open, no active connection can be used, a worker is missing, the shared database is away, or the usage log is in trouble. */
  readonly status: "ok" | "degraded"
  /** Providers that are known, connected or not. */
  readonly catalogCount: number
  readonly configuredCount: number
  readonly activeCount: number
  /** Connections that were tested or used. */
  readonly monitoredCount: number
  readonly breakers: Readonly<Record<"closed" | "degraded" | "open" | "halfOpen", number>>
  readonly connections: StandingCounts
  readonly usageLog: {
    readonly problem: string | null
    readonly waitingRows: number
    readonly rowsNotOnFile: number
    readonly rowsDropped: number
  }
  /** Reach of the database that other gateways may use as well; null: it has its own. */
  readonly database: { readonly node: string; readonly problem: string | null } | null
  /** Reach of Valkey, over which gateways on one database tell each other what they learn; null: there is none. */
  readonly valkey: { readonly address: string; readonly problem: string | null } | null
  /** Null: it is one process. */
  readonly workers: {
    readonly wanted: number
    /** Places that have a process. */
    readonly running: number
    readonly processes: ReadonlyArray<WorkerProcess>
  } | null
}

export class SystemHealth extends Context.Tag("gateway/subjects/system/SystemHealth")<
  SystemHealth,
  { readonly report: Effect.Effect<HealthReport> }
>() {}

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const resilience = yield* Resilience
  const journal = yield* UsageJournal
  const beside = yield* WorkersBeside
  const reach = yield* SharedDatabase
  const valkey = yield* SharedValkey

  const workersNow = (): HealthReport["workers"] => {
    if (beside === null) return null
    const processes = beside.running()
    return { wanted: beside.wanted, running: new Set(processes.map(({ place }) => place)).size, processes }
  }

  const reportOf = (breakers: ReadonlyArray<BreakerView>, connections: ReadonlyArray<AccountState>): HealthReport => {
    const { accounts, byProvider, nodes } = catalog.current()
    const inState = (state: BreakerView["state"]): number =>
      breakers.filter((breaker) => breaker.state === state).length
    const counts = countStandings(connections.map(({ standing }) => standing))
    const isBlocked = breakers.some(({ provider, state }) => state === "OPEN" && byProvider.has(provider))
    const isStranded = counts.available === 0 && counts.inactive < counts.total
    const { dropped, notOnFile, problem } = journal.trouble()
    const workers = workersNow()
    const isShort = workers !== null && workers.running < workers.wanted
    const isAway = reach !== null && reach.problem !== null
    const isSlow = valkey !== null && valkey.problem !== null
    return {
      status: isBlocked || isStranded || isShort || isAway || isSlow || problem !== null ? "degraded" : "ok",
      catalogCount: Registry.registry.size + nodes.length,
      configuredCount: connections.length,
      activeCount: accounts.length,
      monitoredCount: connections.filter(({ health }) => health.testStatus !== "unknown").length,
      breakers: {
        closed: inState("CLOSED"),
        degraded: inState("DEGRADED"),
        open: inState("OPEN"),
        halfOpen: inState("HALF_OPEN")
      },
      connections: counts,
      usageLog: { problem, waitingRows: journal.pending(), rowsNotOnFile: notOnFile, rowsDropped: dropped },
      database: reach === null ? null : { node: reach.node, problem: reach.problem },
      valkey: valkey === null ? null : { address: valkey.address, problem: valkey.problem },
      workers
    }
  }

  return SystemHealth.of({ report: Effect.zipWith(resilience.breakers, resilience.accounts, reportOf) })
})

export const layer: Layer.Layer<SystemHealth, never, Catalog | Resilience | UsageJournal> = Layer.effect(
  SystemHealth,
  make
)
