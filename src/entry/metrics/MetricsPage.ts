/** The text of `/metrics`: the process, the state of the gateway, and counts of its traffic. */
import * as Effect from "effect/Effect"
import { breakersOf, classOf, countStandings, standingOf } from "../../subjects/connections/Standings.ts"
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import { GuardrailDecisions } from "../../plane/features/guardrails/Decisions.ts"
import { KeyLimits } from "../../plane/ledger/KeyLimits.ts"
import * as ProcessFacts from "../../platform/ProcessFacts.ts"
import * as Timers from "../../platform/Timers.ts"
import * as Catalog from "../../plane/providers/Catalog.ts"
import * as BodyBudget from "../../plane/resilience/BodyBudget.ts"
import * as Breakers from "../../plane/resilience/breaker/Breakers.ts"
import * as Cooldowns from "../../plane/resilience/cooldown/Cooldowns.ts"
import * as LoadShedder from "../../plane/resilience/LoadShedder.ts"
import { NodeReplica } from "../../plane/workers/NodeReplica.ts"
import { SharedDatabase } from "../../plane/state/SharedDatabase.ts"
import { SharedValkey } from "../../plane/state/SharedValkey.ts"
import { DecisionLog } from "../../plane/routing/records/DecisionLog.ts"
import * as UsageJournal from "../../store/usage/UsageJournal.ts"
import * as Telemetry from "../../observe/usage/Telemetry.ts"
import { Deliveries } from "../../subjects/webhooks/Deliveries.ts"
import { keyFamilies } from "./KeyFamilies.ts"
import { renderPrometheus } from "./Metrics.ts"
import * as OpenStreams from "../listening/OpenStreams.ts"
import { nodeFamilies } from "./NodeMetrics.ts"
import { processFamilies } from "./ProcessMetrics.ts"
import { WorkerFigures, type WorkersFigures } from "../relay/WorkerFigures.ts"
import { stateFamilies } from "./StateMetrics.ts"
import { workerFamilies } from "./WorkerMetrics.ts"

/** The services that the metrics are read from. */
export type Measured = Effect.Effect.Context<typeof make>

/** Sums what workers have or do now. */
const sumOf = (
  workers: WorkersFigures | null,
  of: "bodiesRefused" | "bodyBytes" | "inFlight" | "openStreams" | "shed"
): number => workers?.byPlace.reduce((sum, [, figures]) => sum + figures[of], 0) ?? 0

/** Renders the page with the current numbers. */
export const make = Effect.gen(function* () {
  const timers = yield* Timers.Timers
  const processFacts = yield* ProcessFacts.ProcessFacts
  const streams = yield* OpenStreams.OpenStreams
  const telemetry = yield* Telemetry.Telemetry
  const catalog = yield* Catalog.Catalog
  const shedder = yield* LoadShedder.LoadShedder
  const bodies = yield* BodyBudget.BodyBudget
  const breakers = yield* Breakers.Breakers
  const cooldowns = yield* Cooldowns.Cooldowns
  const journal = yield* UsageJournal.UsageJournal
  const decisions = yield* DecisionLog
  const deliveries = yield* Deliveries
  const guardrails = yield* GuardrailDecisions
  const keys = yield* ApiKeys
  const limits = yield* KeyLimits

  const usageLogNow = () => {
    const { dropped, notOnFile, problem } = journal.trouble()
    return {
      isTroubled: problem !== null,
      waitingRows: journal.pending(),
      rowsNotOnFile: notOnFile,
      rowsDropped: dropped
    }
  }

  const workersNow = yield* WorkerFigures
  const reach = yield* SharedDatabase
  const valkey = yield* SharedValkey
  const replica = yield* NodeReplica

  const nodeNow = () =>
    reach === null
      ? []
      : nodeFamilies({
          node: reach.node,
          isDatabaseReached: reach.problem === null,
          untold: replica?.waiting() ?? 0,
          dropped: replica?.dropped() ?? 0,
          valkey
        })

  const stateNow = (nowMs: number, workers: WorkersFigures | null) => {
    const current = catalog.current()
    const standings = current.connections.map((connection) =>
      standingOf(connection, cooldowns.healthOf(connection.id), nowMs)
    )
    return stateFamilies({
      breakers: breakersOf(current, breakers.list(nowMs, classOf(current))),
      connections: countStandings(standings),
      inFlight: shedder.inFlight() + sumOf(workers, "inFlight"),
      shed: shedder.shed() + sumOf(workers, "shed") + (workers?.ended.shed ?? 0),
      bodyBytes: bodies.heldBytes() + sumOf(workers, "bodyBytes"),
      bodiesRefused: bodies.refused() + sumOf(workers, "bodiesRefused") + (workers?.ended.bodiesRefused ?? 0),
      decisionsNotStored: decisions.notStored(),
      webhooks: deliveries.counts(),
      guardrails: guardrails.all(),
      usageLog: usageLogNow()
    })
  }

  return (): string => {
    const workers = workersNow?.() ?? null
    const openStreams = streams.count() + sumOf(workers, "openStreams")
    const process = { ...processFacts.read(), openStreams, liveTimers: timers.live() }
    const nowMs = timers.nowMs()
    return renderPrometheus([
      ...processFamilies(process),
      ...stateNow(nowMs, workers),
      ...(workers === null ? [] : workerFamilies(workers)),
      ...nodeNow(),
      ...telemetry.metrics(),
      ...keyFamilies({
        counts: telemetry.keys(),
        nameOf: (id) => keys.get(id)?.name ?? null,
        budgeted: limits.budgets().map(({ apiKeyId }) => apiKeyId),
        standings: (id) => limits.standings(id, nowMs)
      })
    ])
  }
})
