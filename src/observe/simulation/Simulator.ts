/**
 * Simulations and replays over the state of the gateway: its catalogue, prices, settings and usage log. Nothing is sent, and nothing is
 * remembered. They run in small portions, so that requests go on beside them, and one at a time.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { InvalidRequest, ModelNotFound, NoTarget } from "../../domain/Errors.ts"
import type { UsageRow } from "../../domain/Usage.ts"
import * as GatewaySettings from "../../subjects/flags/StoredFlags.ts"
import * as Catalog from "../../plane/providers/Catalog.ts"
import * as Settings from "../../plane/resilience/Settings.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as UsageRepo from "../../subjects/usage/repo.ts"
import * as UsageJournal from "../../store/usage/UsageJournal.ts"
import * as PriceBook from "../usage/PriceBook.ts"
import * as LeaderboardSync from "../../plane/routing/auto/LeaderboardSync.ts"
import * as RouterStrategies from "../../plane/routing/auto/RouterStrategies.ts"
import type { DecidePolicy } from "../../plane/routing/decide/Decide.ts"
import { candidatesOf } from "../../plane/routing/decide/Candidates.ts"
import type { Resolution } from "../../plane/routing/resolve/ModelResolver.ts"
import * as QuotaWindows from "../../plane/routing/quota/QuotaWindows.ts"
import { resolveRequested } from "../../plane/routing/resolve/RequestedModel.ts"
import * as RoutingSettings from "../../plane/routing/RoutingSettings.ts"
import * as PerformanceStats from "../../plane/routing/stats/PerformanceStats.ts"
import { nameOf, unknownNames } from "./Behaviour.ts"
import { makeReplay, type ReplayReport } from "./Replay.ts"
import type { SimulationReport } from "./Report.ts"
import { makeSimulation, type SimulationInput } from "./Simulation.ts"

export type SimulationRequest = Pick<
  SimulationInput,
  | "model"
  | "requests"
  | "seed"
  | "ratePerSecond"
  | "burst"
  | "behaviours"
  | "scenario"
  | "streamed"
  | "sessions"
  | "promptTokens"
  | "outputTokens"
>

export interface ReplayRequest {
  /** The policy to decide by: a combo or any other id. */
  readonly model: string
  /** Time span to look back, in milliseconds. */
  readonly sinceMs: number
  readonly seed: number
}

type Refusal = ModelNotFound | NoTarget | InvalidRequest

export class Simulator extends Context.Tag("gateway/observe/simulation/Simulator")<
  Simulator,
  {
    readonly simulate: (request: SimulationRequest) => Effect.Effect<SimulationReport, Refusal>
    /** Replays the newest rows, where there are more than it can take. */
    readonly replay: (request: ReplayRequest) => Effect.Effect<ReplayReport, Refusal | StoreError>
  }
>() {}

/** Requests times targets of one run. */
export const mostWork = 2_000_000
const mostRows = 50_000

/** Candidates looked at in one portion: some milliseconds. */
const portionWork = 2_000

const portionOf = (targets: number): number => Math.max(1, Math.floor(portionWork / Math.max(1, targets)))

/** Portions until nothing is left; other work has its turn between two of them. */
const whole = (run: (count: number) => boolean, portion: number): Effect.Effect<void> =>
  Effect.suspend(() => (run(portion) ? Effect.zipRight(Effect.sleep(0), whole(run, portion)) : Effect.void))

const invalid = (message: string, param: string): InvalidRequest => new InvalidRequest({ message, param, details: [] })

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog.Catalog
  const prices = yield* PriceBook.PriceBook
  const settings = yield* Settings.Settings
  const gateway = yield* GatewaySettings.GatewaySettings
  const journal = yield* UsageJournal.UsageJournal
  const usage = yield* UsageRepo.UsageRepo
  const quotas = yield* QuotaWindows.QuotaWindows
  const measured = yield* PerformanceStats.PerformanceStats
  const routerStrategies = yield* RouterStrategies.RouterStrategies
  const routing = yield* RoutingSettings.RoutingSettings
  const leaderboard = yield* LeaderboardSync.LeaderboardSync
  const oneAtATime = yield* Effect.makeSemaphore(1)

  /** Returns the policy by which real requests are decided now. */
  const policy = (): DecidePolicy => {
    const { freeTierStrict, lkgpEnabled } = routing.current()
    return { routerStrategies: routerStrategies.lookup, freeTierStrict, lkgpEnabled, fitness: leaderboard.fitness() }
  }

  const resolved = (model: string): Effect.Effect<Resolution, ModelNotFound | NoTarget> =>
    Effect.suspend((): Effect.Effect<Resolution, ModelNotFound | NoTarget> => {
      const view = { catalog: catalog.current(), modelsOf: catalog.modelsOf, factsOf: catalog.factsOf }
      const found = resolveRequested(view, gateway.fallbackOf, model)
      return found instanceof ModelNotFound || found instanceof NoTarget ? Effect.fail(found) : Effect.succeed(found)
    })

  const simulate = Effect.fn("Simulator.simulate")(function* (request: SimulationRequest) {
    const resolution = yield* resolved(request.model)
    const { length } = resolution.targets
    const [unknown] = unknownNames(request.behaviours, resolution.targets)
    if (unknown !== undefined) {
      const names = [...new Set(resolution.targets.map(nameOf))].slice(0, 5).join(", ")
      const message = `${unknown.field}: '${unknown.name}' is none of the targets; name one of ${names}, or * for all`
      return yield* invalid(message, unknown.field)
    }
    if (request.requests * length > mostWork) {
      const most = Math.floor(mostWork / length)
      return yield* invalid(`requests: with ${length} targets at most ${most} can be simulated`, "requests")
    }
    const simulation = makeSimulation({
      ...request,
      resolution,
      settings: settings.current(),
      factsOf: catalog.factsOf,
      price: prices.price,
      policy: policy()
    })
    yield* whole(simulation.run, portionOf(length))
    return simulation.report()
  }, oneAtATime.withPermits(1))

  /** Newest first, no more than `most` and whether there are more. */
  const rowsSince = Effect.fnUntraced(function* (sinceMs: number, most: number) {
    const rows: Array<UsageRow> = []
    let cursor: string | null = null
    yield* journal.catchUp
    do {
      const limit: number = Math.min(UsageRepo.mostPerPage, most - rows.length)
      const page: UsageRepo.UsagePage = yield* usage.page({ limit, cursor, filter: { sinceMs } })
      for (const row of page.rows) rows.push(row)
      cursor = page.nextCursor
    } while (cursor !== null && rows.length < most)
    return { rows, isCut: cursor !== null }
  })

  const replay = Effect.fn("Simulator.replay")(function* ({ model, seed, sinceMs }: ReplayRequest) {
    const resolution = yield* resolved(model)
    const { length } = resolution.targets
    const nowMs = yield* Clock.currentTimeMillis
    const { isCut, rows } = yield* rowsSince(nowMs - sinceMs, Math.min(mostRows, Math.floor(mostWork / length)))
    const sources = {
      catalog,
      health: { unready: () => null },
      breakers: { phaseOf: () => "CLOSED" as const },
      stats: { ...measured, used: () => 0, inFlight: () => 0 },
      quotas,
      price: prices.price
    }
    const run = makeReplay({
      model,
      resolution,
      candidates: candidatesOf(sources, resolution, nowMs),
      rows: rows.toReversed(),
      seed,
      price: prices.price,
      policy: policy()
    })
    yield* whole(run.run, portionOf(length))
    const report = run.report()
    return isCut
      ? { ...report, notes: [...report.notes, `Only the newest ${rows.length} rows were looked at.`] }
      : report
  }, oneAtATime.withPermits(1))

  return Simulator.of({ simulate, replay })
})

export const layer: Layer.Layer<
  Simulator,
  never,
  | Catalog.Catalog
  | PriceBook.PriceBook
  | Settings.Settings
  | GatewaySettings.GatewaySettings
  | UsageJournal.UsageJournal
  | UsageRepo.UsageRepo
  | QuotaWindows.QuotaWindows
  | PerformanceStats.PerformanceStats
  | RouterStrategies.RouterStrategies
  | RoutingSettings.RoutingSettings
  | LeaderboardSync.LeaderboardSync
> = Layer.effect(Simulator, make)
