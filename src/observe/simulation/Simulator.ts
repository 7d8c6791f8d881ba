/**
 * Simulations and replays over the state of the gateway: its catalogue, prices, settings and usage log. Nothing is sent, and nothing is
 * remembered. They run in slices of a few milliseconds, so that requests go on beside them, and one at a time; only a few wait.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import { InvalidRequest, ModelNotFound, NoTarget, Overloaded } from "../../contract/domain/Errors.ts"
import * as GatewaySettings from "../../subjects/flags/StoredFlags.ts"
import type { Combo } from "../../subjects/combos/entity.ts"
import { Timers } from "../../platform/Timers.ts"
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
import { RecordedRows } from "./Recorded.ts"
import type { SimulationReport } from "./Report.ts"
import { makeSimulation, type SimulationInput } from "./Simulation.ts"

/** Policy that is decided by. */
interface Tried {
  /** A combo or any other id. */
  readonly model: string
  /** Combo that is tried as if it were stored; null: none. */
  readonly combo: Combo | null
  /** Another id, of what is stored, that does the same work for comparison; null: none. */
  readonly compareWith: string | null
}

export type SimulationRequest = Tried &
  Pick<
    SimulationInput,
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

export interface ReplayRequest extends Tried {
  /** Time span to look back, in milliseconds. */
  readonly sinceMs: number
  readonly seed: number
}

/** Requests that are over, of all that there are, in both runs where there are two. */
export interface Progress {
  readonly done: number
  readonly total: number
}

export interface Compared<Report> {
  readonly report: Report
  /** Report of `compareWith`; null: nothing is compared. */
  readonly other: Report | null
}

/** Work that nothing stands in the way of. It tells how far it is, and can be interrupted between two slices. */
export type Work<Report, E = never> = (
  tell: (progress: Progress) => Effect.Effect<void>
) => Effect.Effect<Compared<Report>, E>

type Refusal = ModelNotFound | NoTarget | InvalidRequest | Overloaded

export class Simulator extends Context.Tag("gateway/observe/simulation/Simulator")<
  Simulator,
  {
    /** Checks what is asked; the simulation itself is the work. */
    readonly simulate: (request: SimulationRequest) => Effect.Effect<Work<SimulationReport>, Refusal>
    /** Replays the newest rows, where there are more than it can take. */
    readonly replay: (request: ReplayRequest) => Effect.Effect<Work<ReplayReport, StoreError>, Refusal>
  }
>() {}

/** Requests times targets of one run. */
export const mostWork = 2_000_000
const mostRows = 50_000
/** Simulations and replays that wait for the one that runs; one more is refused. */
export const mostWaiting = 32
const retryAfterMs = 5_000

/** Candidates looked at between two looks at the clock: less than a millisecond, or one decision where a decision takes longer. */
const stepWork = 100
/** Time after which other work has its turn. */
const sliceMs = 3
/** Most steps of a slice, whatever the clock says. */
const mostSteps = 50
/** Time between two words about how far it is. */
const tellEveryMs = 100

const stepOf = (targets: number): number => Math.max(1, Math.floor(stepWork / Math.max(1, targets)))

/** A run, in steps. */
interface Run {
  readonly run: (count: number) => boolean
  readonly done: () => number
}

/** Waits until the event loop has done what is ready now. */
const turnOf = (timers: typeof Timers.Service) => Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

/** Works until nothing is left; other work has its turn after each slice. */
const whole = (
  timers: typeof Timers.Service,
  { done, run }: Run,
  step: number,
  tell: (done: number) => Effect.Effect<void>
) =>
  Effect.gen(function* () {
    let toldMs = timers.monotonicMs()
    for (;;) {
      const startedMs = timers.monotonicMs()
      let isGoingOn = true
      for (let steps = 0; isGoingOn && steps < mostSteps; steps += 1) {
        isGoingOn = run(step)
        if (timers.monotonicMs() - startedMs >= sliceMs) break
      }
      if (!isGoingOn) return
      if (timers.monotonicMs() - toldMs >= tellEveryMs) {
        toldMs = timers.monotonicMs()
        yield* tell(done())
      }
      yield* turnOf(timers)
    }
  })

/** One run after the other, or the only one. */
const compared =
  <Input, Report, E>(
    { other, own }: { readonly own: Input; readonly other: Input | null },
    totalOf: number,
    work: (input: Input, tell: (done: number) => Effect.Effect<void>) => Effect.Effect<Report, E>
  ): Work<Report, E> =>
  (tell) =>
    Effect.gen(function* () {
      const total = other === null ? totalOf : totalOf * 2
      yield* tell({ done: 0, total })
      const report = yield* work(own, (done) => tell({ done, total }))
      if (other === null) return { report, other: null }
      return { report, other: yield* work(other, (done) => tell({ done: totalOf + done, total })) }
    })

/** The same work in its turn. */
const inTurn =
  <Report, E>({ oneAtATime }: Deps, work: Work<Report, E>): Work<Report, E> =>
  (tell) =>
    oneAtATime.inTurn(work(tell))

const unlessTooManyWait = ({ oneAtATime }: Deps): Effect.Effect<void, Overloaded> =>
  Effect.suspend(() => (oneAtATime.waiting() < mostWaiting ? Effect.void : new Overloaded({ retryAfterMs })))

const invalid = (message: string, param: string): InvalidRequest => new InvalidRequest({ message, param, details: [] })

const services = Effect.all({
  catalog: Catalog.Catalog,
  prices: PriceBook.PriceBook,
  settings: Settings.Settings,
  gateway: GatewaySettings.GatewaySettings,
  journal: UsageJournal.UsageJournal,
  usage: UsageRepo.UsageRepo,
  quotas: QuotaWindows.QuotaWindows,
  measured: PerformanceStats.PerformanceStats,
  routerStrategies: RouterStrategies.RouterStrategies,
  routing: RoutingSettings.RoutingSettings,
  leaderboard: LeaderboardSync.LeaderboardSync,
  timers: Timers,
  oneAtATime: Effect.sync(() => makeLane(1))
})
type Deps = Effect.Effect.Success<typeof services>

/** Returns the policy by which real requests are decided now. */
const policyOf = ({ leaderboard, routerStrategies, routing }: Deps): DecidePolicy => {
  const { freeTierStrict, lkgpEnabled } = routing.current()
  return { routerStrategies: routerStrategies.lookup, freeTierStrict, lkgpEnabled, fitness: leaderboard.fitness() }
}

const resolved = (
  { catalog, gateway }: Deps,
  model: string,
  combo: Combo | null
): Effect.Effect<Resolution, ModelNotFound | NoTarget> =>
  Effect.suspend((): Effect.Effect<Resolution, ModelNotFound | NoTarget> => {
    const current = catalog.current()
    const view = {
      catalog: combo === null ? current : Catalog.withCombo(current, combo),
      modelsOf: catalog.modelsOf,
      factsOf: catalog.factsOf
    }
    const found = resolveRequested(view, gateway.fallbackOf, model)
    return found instanceof ModelNotFound || found instanceof NoTarget ? Effect.fail(found) : Effect.succeed(found)
  })

/** An id, and what it stands for. */
interface Resolved {
  readonly model: string
  readonly resolution: Resolution
}

/** Resolves the id that is tried, and the one that it is compared with. */
const bothOf = Effect.fnUntraced(function* (deps: Deps, { combo, compareWith, model }: Tried) {
  const own = { model, resolution: yield* resolved(deps, model, combo) }
  if (compareWith === null) return { own, other: null }
  const other = yield* resolved(deps, compareWith, null)
  return { own, other: { model: compareWith, resolution: other } }
})

const simulate = Effect.fn("Simulator.simulate")(function* (deps: Deps, request: SimulationRequest) {
  const { catalog, prices, settings, timers } = deps
  yield* unlessTooManyWait(deps)
  const both = yield* bothOf(deps, request)
  const targets = [...both.own.resolution.targets, ...(both.other?.resolution.targets ?? [])]
  const [unknown] = unknownNames(request.behaviours, targets)
  if (unknown !== undefined) {
    const names = [...new Set(targets.map(nameOf))].slice(0, 5).join(", ")
    const message = `${unknown.field}: '${unknown.name}' is none of the targets; name one of ${names}, or * for all`
    return yield* invalid(message, unknown.field)
  }
  if (request.requests * targets.length > mostWork) {
    const most = Math.floor(mostWork / targets.length)
    return yield* invalid(`requests: with ${targets.length} targets at most ${most} can be simulated`, "requests")
  }
  const work = compared(both, request.requests, ({ model, resolution }: Resolved, tell) =>
    Effect.suspend(() => {
      const simulation = makeSimulation({
        ...request,
        model,
        resolution,
        settings: settings.current(),
        factsOf: catalog.factsOf,
        price: prices.price,
        policy: policyOf(deps)
      })
      const run = { run: simulation.run, done: simulation.arrived }
      return Effect.map(whole(timers, run, stepOf(resolution.targets.length), tell), simulation.report)
    })
  )
  return inTurn(deps, work)
})

/** The newest, no more than `most`, and whether there are more. */
const rowsSince = Effect.fnUntraced(function* ({ journal, timers, usage }: Deps, sinceMs: number, most: number) {
  yield* journal.catchUp
  const rows = new RecordedRows()
  const query = { limit: most, cursor: null, filter: { sinceMs } }
  const nextCursor = yield* UsageRepo.inParts(usage, turnOf(timers), query, (part) => rows.add(part))
  return { rows, isCut: nextCursor !== null }
})

type Recorded = Effect.Effect.Success<ReturnType<typeof rowsSince>>

const replayed = Effect.fnUntraced(function* (
  deps: Deps,
  { isCut, rows }: Recorded,
  { model, resolution }: Resolved,
  seed: number,
  tell: (done: number) => Effect.Effect<void>
) {
  const { catalog, measured, prices, quotas, timers } = deps
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
    candidates: candidatesOf(sources, resolution, yield* Clock.currentTimeMillis),
    rows,
    seed,
    price: prices.price,
    policy: policyOf(deps)
  })
  yield* whole(timers, { run: run.run, done: run.decided }, stepOf(resolution.targets.length), tell)
  const report = run.report()
  return isCut
    ? { ...report, notes: [...report.notes, `Only the newest ${rows.length + rows.leftOut} rows were looked at.`] }
    : report
})

const replay = Effect.fn("Simulator.replay")(function* (deps: Deps, { seed, sinceMs, ...tried }: ReplayRequest) {
  yield* unlessTooManyWait(deps)
  const both = yield* bothOf(deps, tried)
  const targets = both.own.resolution.targets.length + (both.other?.resolution.targets.length ?? 0)
  const nowMs = yield* Clock.currentTimeMillis
  const most = Math.min(mostRows, Math.floor(mostWork / targets))
  // Both decide the same rows; which these are is known only when they are read.
  const work: Work<ReplayReport, StoreError> = (tell) =>
    Effect.flatMap(rowsSince(deps, nowMs - sinceMs, most), (recorded) =>
      compared(both, recorded.rows.length, (input: Resolved, done) => replayed(deps, recorded, input, seed, done))(tell)
    )
  return inTurn(deps, work)
})

export const make = Effect.map(services, (deps) =>
  Simulator.of({
    simulate: (request) => simulate(deps, request),
    replay: (request) => replay(deps, request)
  })
)

export const layer: Layer.Layer<
  Simulator,
  never,
  | Timers
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
