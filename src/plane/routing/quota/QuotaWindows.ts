/**
 * The quotas of all connections: learned from what providers show, or declared by the operator and counted from live usage. Rate
 * limits of short windows are kept apart: by model, in memory only. What lasts for hours and longer survives a restart.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Connection } from "../../../subjects/connections/entity.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import type { HeaderLookup } from "../../resilience/failure/HeaderHints.ts"
import { makeWriteBehind, type WriteBehind } from "../../resilience/WriteBehind.ts"
import { Replica } from "../../state/Replica.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { QuotaRepo } from "../../../subjects/quotaGroups/QuotaRepo.ts"
import type { QuotaWindow } from "../candidate/Candidate.ts"
import { readStates } from "../health/StoredStates.ts"
import { blankCount, type Count, currentCount, declaredOf } from "./Declared.ts"
import { readQuotas } from "./HeaderQuotas.ts"
import * as State from "./QuotaState.ts"

/** A connection as far as its quotas are concerned. */
export type QuotaConnection = Pick<Connection, "id" | "quotas">

/** Use by one call. */
export interface QuotaUsage {
  readonly tokens: number
  readonly costNanoUsd: number
}

/** Hot: the same list as long as nothing has changed. */
export type QuotaReader = (nowMs: number) => ReadonlyArray<QuotaWindow>

/** A rate limit in force; `model` is null when it holds for all models of the connection. */
export interface RateView extends State.Rate {
  readonly model: string | null
}

export interface QuotaReport {
  /** Provider's name of the subscription. */
  readonly plan: string | null
  readonly quotas: ReadonlyArray<State.QuotaView>
  readonly rates: ReadonlyArray<RateView>
}

export class QuotaWindows extends Context.Tag("gateway/plane/routing/quota/QuotaWindows")<
  QuotaWindows,
  {
    /** Hot: reads the headers of an answer, whatever its status; cheap when they have no quotas. */
    readonly learn: (connectionId: string, model: string, header: HeaderLookup, nowMs: number) => void
    /** Hot: notes by a refusal that something is used up, also where only the body said so (Google's `retryDelay`). */
    readonly refused: (connectionId: string, model: string, failure: Failure, nowMs: number) => void
    /** Hot: counts a call against what the operator declared. */
    readonly count: (connection: QuotaConnection, used: QuotaUsage, nowMs: number) => void
    /** Hot: one by window, the tightest, and the tightest rate limit of the model; empty when nothing is known. */
    readonly of: (connection: QuotaConnection, nowMs: number, model: string) => ReadonlyArray<QuotaWindow>
    /** The same as `of` for one target, found once for callers that read it many times. */
    readonly reader: (connection: QuotaConnection, model: string) => QuotaReader
    /** Hot: checks whether there is anything to be read of a connection: declared, learned or counted. */
    readonly knows: (connection: QuotaConnection) => boolean
    /** Hot: rises when the first fact of a connection becomes known, and when its facts are dropped. */
    readonly changes: () => number
    /** Hot: rate limits in force for this model. */
    readonly rates: (connectionId: string, model: string, nowMs: number) => ReadonlyArray<State.Rate>
    /** Hot: every quota of hours or longer, with what is used of it. */
    readonly views: (connection: QuotaConnection, nowMs: number) => ReadonlyArray<State.QuotaView>
    readonly report: (connection: QuotaConnection, nowMs: number) => QuotaReport
    /** The connection has another credential, maybe of another account. What was counted of declared quotas stays. */
    readonly forgetShown: (connectionId: string) => void
    /** A connection is gone. */
    readonly forget: (connectionId: string) => void
    /** Waits until everything that lasts is in the store. */
    readonly flush: Effect.Effect<void>
  }
>() {}

/** Connections kept at most; beyond it the one that was longest silent goes. */
export const capacity = 5_000

/** Models whose rate limits are kept, of one connection. */
export const maxModels = 100

/** The key of rates that hold for every model. */
const everyModel = ""

/** Windows computed for one list of declared quotas, and the time for which they hold. */
interface Ready {
  readonly declared: Connection["quotas"]
  readonly windows: ReadonlyArray<QuotaWindow>
  readonly fromMs: number
  readonly untilMs: number
}

interface Entry {
  plan: string | null
  learned: ReadonlyArray<State.LearnedWindow>
  readonly counts: Map<string, Count>
  /** Rates by model. */
  readonly rates: LruMap<string, ReadonlyArray<State.Rate>>
  ready: Ready | null
}

const none: ReadonlyArray<never> = []

const isSameList = (one: ReadonlyArray<QuotaWindow>, other: ReadonlyArray<QuotaWindow>): boolean =>
  one.length === other.length &&
  one.every((window, index) => {
    const same = other[index]
    return (
      same !== undefined &&
      (window === same ||
        (window.window === same.window && window.remaining === same.remaining && window.resetAtMs === same.resetAtMs))
    )
  })

const noRates = (): Entry["rates"] => new LruMap({ capacity: maxModels })

const what = "What is known of the quotas"

const entryFrom = ({ counts, learned, plan }: State.StoredQuotas, nowMs: number): Entry => ({
  plan,
  learned: learned.filter(({ untilMs }) => untilMs > nowMs),
  counts: new Map(Object.entries(counts).filter(([, { endMs }]) => endMs > nowMs)),
  rates: noRates(),
  ready: null
})

const isWorthKeeping = ({ counts, learned }: Entry): boolean => learned.length > 0 || counts.size > 0

const stored = ({ counts, learned, plan }: Entry): string =>
  JSON.stringify({ plan, learned, counts: Object.fromEntries(counts) } satisfies State.StoredQuotas)

const isDaily = ({ rule }: Failure): boolean => rule.includes("daily")

const services = Effect.all({ repo: QuotaRepo })
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly entries: LruMap<string, Entry>
  /** Counts the entries that come and go. */
  readonly changes: { count: number }
  readonly writeBehind: WriteBehind
}

/** The entry to be changed. */
const open = (deps: Deps, id: string): Entry => {
  const { entries } = deps
  const known = entries.peek(id)
  const entry = known ?? { plan: null, learned: none, counts: new Map(), rates: noRates(), ready: null }
  if (known === undefined) deps.changes.count += 1
  entries.set(id, entry)
  entry.ready = null
  return entry
}

type Shown = NonNullable<ReturnType<typeof readQuotas>>

const learn = (deps: Deps, connectionId: string, model: string, shown: Shown, nowMs: number): void => {
  const entry = open(deps, connectionId)
  if (shown.rates.length > 0) {
    entry.rates.set(
      model,
      shown.rates.map((rate) => State.believedRate(rate, nowMs))
    )
  }
  if (shown.windows.length === 0) return
  entry.plan = shown.plan ?? entry.plan
  entry.learned = State.layWindows(entry.learned, shown.windows, nowMs)
  deps.writeBehind.touch(connectionId)
}

const refused = (deps: Deps, connectionId: string, model: string, failure: Failure, nowMs: number): void => {
  const { kind, scope, untilMs } = failure
  if (untilMs === null || untilMs <= nowMs || (kind !== "rate_limit" && kind !== "quota_exhausted")) return
  const entry = open(deps, connectionId)
  if (kind === "quota_exhausted" && scope !== "model" && isDaily(failure)) {
    const usedUp = { window: "daily", unit: "percent", used: 100, total: 100, resetAtMs: untilMs } as const
    entry.learned = State.layWindows(entry.learned, [usedUp], nowMs)
    deps.writeBehind.touch(connectionId)
    return
  }
  const key = scope === "model" ? model : everyModel
  const others = State.currentRates(entry.rates.peek(key) ?? none, nowMs).filter(({ name }) => name !== kind)
  const rates = [...others, { name: kind, left: 0, total: null, resetAtMs: untilMs, sinceMs: nowMs, untilMs }]
  entry.rates.set(key, rates)
}

const count = (deps: Deps, { id, quotas }: QuotaConnection, used: QuotaUsage, nowMs: number): void => {
  if (quotas.length === 0) return
  const entry = open(deps, id)
  const done = new Set<string>()
  for (const declared of declaredOf(quotas)) {
    if (declared.unit === "percent" || done.has(declared.key)) continue
    done.add(declared.key)
    const before = currentCount(entry.counts.get(declared.key), nowMs) ?? blankCount(declared, nowMs)
    entry.counts.set(declared.key, {
      ...before,
      requests: before.requests + 1,
      tokens: before.tokens + used.tokens,
      nanoUsd: before.nanoUsd + used.costNanoUsd
    })
  }
  for (const [key, { endMs }] of entry.counts) if (endMs <= nowMs) entry.counts.delete(key)
  deps.writeBehind.touch(id)
}

const viewsOf = ({ entries }: Deps, { id, quotas }: QuotaConnection, nowMs: number): ReadonlyArray<State.QuotaView> => {
  const entry = entries.peek(id)
  return State.viewsOf(declaredOf(quotas), entry?.learned ?? none, entry?.counts ?? new Map(), nowMs)
}

const windowsIn = (
  deps: Deps,
  entry: Entry | undefined,
  connection: QuotaConnection,
  nowMs: number
): ReadonlyArray<QuotaWindow> => {
  if (entry === undefined)
    return connection.quotas.length === 0 ? none : State.windowsOf(viewsOf(deps, connection, nowMs))
  const { ready } = entry
  if (ready !== null && ready.declared === connection.quotas && ready.fromMs <= nowMs && nowMs < ready.untilMs) {
    return ready.windows
  }
  const views = viewsOf(deps, connection, nowMs)
  const windows = State.windowsOf(views)
  // A request may be looked at as of its arrival, when a count that it has begun itself was not there yet.
  const begins = Array.from(entry.counts.values(), ({ startMs }) => (startMs > nowMs ? startMs : Infinity))
  const untilMs = Math.min(Number.POSITIVE_INFINITY, ...views.map((view) => view.untilMs), ...begins)
  entry.ready = { declared: connection.quotas, windows, fromMs: nowMs, untilMs }
  return windows
}

const ratesIn = (entry: Entry | undefined, model: string, nowMs: number): ReadonlyArray<State.Rate> => {
  const byModel = entry?.rates
  if (byModel === undefined || byModel.size === 0) return none
  const own = State.currentRates(byModel.peek(model) ?? none, nowMs)
  const shared = State.currentRates(byModel.peek(everyModel) ?? none, nowMs)
  return shared.length === 0 ? own : [...own, ...shared]
}

const allIn = (
  deps: Deps,
  entry: Entry | undefined,
  connection: QuotaConnection,
  nowMs: number,
  model: string
): ReadonlyArray<QuotaWindow> => {
  const windows = windowsIn(deps, entry, connection, nowMs)
  const rate = State.rateWindow(ratesIn(entry, model, nowMs))
  return rate === null ? windows : [...windows, rate]
}

const rates = ({ entries }: Deps, connectionId: string, model: string, nowMs: number): ReadonlyArray<State.Rate> =>
  ratesIn(entries.peek(connectionId), model, nowMs)

const of = (deps: Deps, connection: QuotaConnection, nowMs: number, model: string): ReadonlyArray<QuotaWindow> =>
  allIn(deps, deps.entries.peek(connection.id), connection, nowMs, model)

const reader = (deps: Deps, connection: QuotaConnection, model: string): QuotaReader => {
  let seen = -1
  let entry: Entry | undefined
  let last: ReadonlyArray<QuotaWindow> = none
  return (nowMs) => {
    if (seen !== deps.changes.count) {
      entry = deps.entries.peek(connection.id)
      seen = deps.changes.count
    }
    // Nothing declared, nothing learned: most connections.
    if (entry === undefined && connection.quotas.length === 0) return none
    const now = allIn(deps, entry, connection, nowMs, model)
    if (isSameList(now, last)) return last
    last = now
    return now
  }
}

const report = (deps: Deps, connection: QuotaConnection, nowMs: number): QuotaReport => {
  const entry = deps.entries.peek(connection.id)
  return {
    plan: entry?.plan ?? null,
    quotas: viewsOf(deps, connection, nowMs),
    rates: Array.from(entry?.rates ?? [], ([key, known]) => {
      const model = key === everyModel ? null : key
      return State.currentRates(known, nowMs).map((rate): RateView => Object.assign({ model }, rate))
    }).flat()
  }
}

export const make = Effect.gen(function* () {
  const all = yield* services
  const changes = { count: 0 }
  const entries = new LruMap<string, Entry>({
    capacity,
    onRemove: (id) => {
      changes.count += 1
      writeBehind.touch(id)
    }
  })
  const { corrupt, states } = yield* readStates(what, State.StoredQuotas, yield* all.repo.list)

  const writeBehind = yield* makeWriteBehind(what, (id) => {
    const entry = entries.peek(id)
    return entry === undefined || !isWorthKeeping(entry) ? all.repo.remove(id) : all.repo.save(id, stored(entry))
  })

  const startMs = yield* Clock.currentTimeMillis
  for (const key of corrupt) writeBehind.touch(key)
  for (const [id, state] of states) {
    const entry = entryFrom(state, startMs)
    // Also how what is known of a removed connection leaves the store in the end.
    if (isWorthKeeping(entry)) entries.set(id, entry)
    else writeBehind.touch(id)
  }
  const deps: Deps = { ...all, entries, changes, writeBehind }
  const { shared } = yield* Replica
  const learned = shared("quota.learn", (connectionId: string, model: string, shown: Shown, nowMs: number) =>
    learn(deps, connectionId, model, shown, nowMs)
  )
  const counted = shared(
    "quota.count",
    (id: string, quotas: QuotaConnection["quotas"], used: QuotaUsage, nowMs: number) =>
      count(deps, { id, quotas }, used, nowMs)
  )
  const refusedFor = shared("quota.refused", (id: string, model: string, failure: Failure, nowMs: number) =>
    refused(deps, id, model, failure, nowMs)
  )

  return QuotaWindows.of({
    learn: (connectionId, model, header, nowMs) => {
      const shown = readQuotas(header, nowMs)
      if (shown !== null) learned(connectionId, model, shown, nowMs)
    },
    refused: (connectionId, model, failure, nowMs) => {
      if (failure.untilMs !== null) refusedFor(connectionId, model, failure, nowMs)
    },
    count: ({ id, quotas }, used, nowMs) => {
      if (quotas.length > 0) counted(id, quotas, used, nowMs)
    },
    of: (connection, nowMs, model) => of(deps, connection, nowMs, model),
    reader: (connection, model) => reader(deps, connection, model),
    knows: ({ id, quotas }) => quotas.length > 0 || entries.peek(id) !== undefined,
    changes: () => changes.count,
    rates: (connectionId, model, nowMs) => rates(deps, connectionId, model, nowMs),
    views: (connection, nowMs) => viewsOf(deps, connection, nowMs),
    report: (connection, nowMs) => report(deps, connection, nowMs),
    forgetShown: (connectionId) => {
      const entry = entries.peek(connectionId)
      if (entry === undefined) return
      entry.plan = null
      entry.learned = none
      entry.rates.clear()
      entry.ready = null
      writeBehind.touch(connectionId)
    },
    forget: (connectionId) => {
      entries.delete(connectionId)
    },
    flush: writeBehind.flush
  })
})

export const layer: Layer.Layer<QuotaWindows, StoreError, Effect.Effect.Context<typeof services>> = Layer.scoped(
  QuotaWindows,
  make
)
