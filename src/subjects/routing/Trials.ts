/** Questions and answers of simulations and replays, in the words of the API. Pure. */
import type { SimulatedSessions } from "../../observe/simulation/Simulation.ts"
import type { Compared, ReplayRequest, SimulationRequest } from "../../observe/simulation/Simulator.ts"
import type { ReplayReport } from "../../observe/simulation/Replay.ts"
import type { SimulationReport } from "../../observe/simulation/Report.ts"
import type { Combo } from "../combos/entity.ts"
import type { ReplayAnswer, ReplayInput, SimulateInput, SimulationAnswer } from "./routes.ts"

const plansOf = (faults: NonNullable<SimulateInput["faults"]>): SimulationRequest["behaviours"]["faults"] =>
  Object.fromEntries(
    Object.entries(faults).map(([name, plans]) => [
      name,
      plans.map(({ everyMs = null, fault, forMs = null, fromMs = 0, rate = 1 }) => ({
        fault,
        rate,
        fromMs,
        forMs,
        everyMs
      }))
    ])
  )

const sessionsOf = ({ sessions }: SimulateInput): SimulatedSessions | null =>
  sessions === undefined ? null : { count: sessions.count, turnsPerPrompt: sessions.turnsPerPrompt ?? 10 }

/** A model id, and the combo that is tried with it. */
export interface Chosen {
  readonly model: string
  readonly combo: Combo | null
}

export const simulationOf = (payload: SimulateInput, chosen: Chosen): SimulationRequest => ({
  ...chosen,
  compareWith: payload.compareWith ?? null,
  requests: payload.requests ?? 10_000,
  seed: payload.seed ?? 1,
  ratePerSecond: payload.ratePerSecond ?? 10,
  burst: payload.burst ?? 1,
  behaviours: {
    errors: payload.errors ?? {},
    latency: payload.latency ?? {},
    quotas: payload.quotas ?? {},
    faults: plansOf(payload.faults ?? {})
  },
  scenario: payload.scenario ?? null,
  streamed: payload.stream ?? null,
  sessions: sessionsOf(payload),
  promptTokens: payload.promptTokens ?? 1_000,
  outputTokens: payload.outputTokens ?? 300
})

export const replayOf = ({ compareWith, seed, sinceMs }: ReplayInput, chosen: Chosen): ReplayRequest => ({
  ...chosen,
  compareWith: compareWith ?? null,
  sinceMs,
  seed: seed ?? 1
})

const less = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : one - other

export const simulationAnswer = ({ other, report }: Compared<SimulationReport>): SimulationAnswer => ({
  simulation: report,
  ...(other === null
    ? {}
    : {
        comparison: {
          simulation: other,
          difference: {
            served: report.served - other.served,
            failed: report.failed - other.failed,
            fallbacks: report.fallbacks - other.fallbacks,
            calls: report.calls - other.calls,
            p50Ms: less(report.p50Ms, other.p50Ms),
            p95Ms: less(report.p95Ms, other.p95Ms),
            costUsd: report.costUsd - other.costUsd
          }
        }
      })
})

export const replayAnswer = ({ other, report }: Compared<ReplayReport>): ReplayAnswer => ({
  replay: report,
  ...(other === null
    ? {}
    : {
        comparison: {
          replay: other,
          difference: {
            moved: report.moved - other.moved,
            costUsd: report.cost.afterUsd - other.cost.afterUsd,
            meanMs: less(report.latency.meanAfterMs, other.latency.meanAfterMs)
          }
        }
      })
})
