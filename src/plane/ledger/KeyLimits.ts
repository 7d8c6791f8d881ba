/**
 * The limits of API keys in force: budgets, token limits, rates and sessions. Admission is hot and synchronous; a key without limits costs one
 * look-up. Counters are in memory and are made again from the usage log at the start.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Iterable from "effect/Iterable"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { makeLane } from "../../kernel/Lane.ts"
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import { People } from "../../subjects/people/People.ts"
import type { ApiKey } from "../../subjects/keys/entity.ts"
import { KeyOwnerRepo } from "../../subjects/keys/KeyOwnerRepo.ts"
import type { LimitReached, LimitsUnknown } from "../../contract/domain/Errors.ts"
import type { Budget, TokenLimit } from "../../subjects/limits/entity.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { Events } from "../../observe/Events.ts"
import type { Later } from "../../kernel/Later.ts"
import { Timers } from "../../platform/Timers.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import { type LimitNotice, LimitRepo } from "../../subjects/limits/repo.ts"
import { MediaJobRepo } from "../../subjects/mediaJobs/repo.ts"
import { SpendRepo } from "../../subjects/usage/SpendRepo.ts"
import { Reservations } from "../../store/usage/Reservations.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { AccountCommitment, type Charge, type Commitment } from "./Commitment.ts"
import { hasRates, type Holder, KeyAccount, longestRateMs, type Obstacle, type Reached } from "./KeyAccount.ts"
import { Meter, type MeterSpec, type MeterWindow } from "./Meter.ts"
import { recoveredRow } from "./Recovered.ts"
import { installShared, nextTurn, refreshShared, shareWith } from "./SharedLimits.ts"
import { type SharedMeter, sharedOf, sharedSpecs } from "./SharedMeters.ts"
import { isSameMeter, metersOf } from "./Specs.ts"
import { metersAtStart, type UsedAtStart, usedAtStart } from "./StartSums.ts"
import { TokenLimits } from "./TokenLimits.ts"
import { windowAt } from "./Windows.ts"
import { meterReached, rateReached, sessionsReached } from "./LimitErrors.ts"
import { type Booked, LedgerTruth, type WorkersBooks } from "./LedgerTruth.ts"

export interface AdmissionRequest {
  readonly requestId: string
  /** Epoch milliseconds at arrival. */
  readonly receivedMs: number
  /** The session's id as the client gave it; without one a request is a session of its own. */
  readonly sessionId: string | null
  /** Rates, the day and sessions have counted it already, or what it serves: it counts for budgets and tokens only. */
  readonly isCountedBefore: boolean
  /** A provider has been promised the money already: it is reserved whatever is left. */
  readonly isPromised?: boolean
}

/** Reservation of a request from its key's limits; null for callers without limits. */
export type Admitted = Commitment | LimitReached | LimitsUnknown | null

/** A limit as it is. */
export interface Standing {
  readonly spec: MeterSpec
  readonly window: Readonly<MeterWindow>
}

export class KeyLimits extends Context.Tag("gateway/plane/ledger/KeyLimits")<
  KeyLimits,
  {
    /** Hot: null for a key without limits. The commitment is to be left when the request is over. */
    readonly admit: (key: ApiKey, request: AdmissionRequest) => Admitted | Later<Admitted>
    /** Milliseconds until the rates and sessions of a key let one more request in, as far as it is known; 0: now. */
    readonly pauseMs: (key: ApiKey) => number
    /** Hot: refuses a call of the request by a limit, with the error for the client. */
    readonly refuse: (commitment: Commitment, obstacle: Obstacle) => LimitReached
    /** Hot: books what a request has cost. */
    readonly settle: (commitment: Commitment, charges: ReadonlyArray<Charge>) => void
    /** Hot: checks whether what a request has cost may count that was let in while its key had no limits: they may have come since. */
    readonly mayCount: (apiKeyId: string) => boolean
    /** Books what such a request has cost. */
    readonly book: (booked: Booked) => void
    /** Limits of a key at a time. */
    readonly standings: (apiKeyId: string, nowMs: number) => ReadonlyArray<Standing>
    /**
     * To be run before `standings` and `commitments`, of a key or of all (null), where they have to be exact: what other processes hold ahead of need
     * comes back, and what their calls have reserved is known.
     */
    readonly gather: (apiKeyId: string | null) => Effect.Effect<void>
    /** Requests that hold reservations now, by key or all. */
    readonly commitments: (apiKeyId?: string) => ReadonlyArray<Holder>
    readonly budgets: () => ReadonlyArray<Budget>
    readonly tokenLimits: () => ReadonlyArray<TokenLimit>
    readonly putBudget: (budget: Budget) => Effect.Effect<void, StoreError>
    /** False when the key has none. */
    readonly removeBudget: (apiKeyId: string) => Effect.Effect<boolean, StoreError>
    /** Adds a limit, or changes the one of the same id. */
    readonly putTokenLimit: (limit: TokenLimit) => Effect.Effect<void, StoreError | AlreadyStored>
    /** False when there is none. */
    readonly removeTokenLimit: (id: string) => Effect.Effect<boolean, StoreError>
    /** The key's own settings were changed. */
    readonly keyChanged: (apiKeyId: string) => Effect.Effect<void, StoreError>
    /** The budget or token limits of a key were changed by another process: reads them again. */
    readonly limitsChanged: (apiKeyId: string) => Effect.Effect<void, StoreError>
    /** Removes everything of a key that no longer exists. */
    readonly forgetKey: (apiKeyId: string) => Effect.Effect<void, StoreError>
    /** People or teams were changed: their limits, and which keys they hold for. */
    readonly ownersChanged: Effect.Effect<void, StoreError>
    /** Limits of a person or a team at a time. */
    readonly ownerStandings: (ownerId: string, nowMs: number) => ReadonlyArray<Standing>
  }
>() {}

/** Requests of the time before a start that are counted for rates. */
const mostArrivals = 10_000

const none: ReadonlyArray<never> = []

const services = Effect.all({
  repo: LimitRepo,
  spend: SpendRepo,
  journal: UsageJournal,
  jobs: MediaJobRepo,
  keys: ApiKeys,
  owners: KeyOwnerRepo,
  people: People,
  events: Events,
  reservations: Reservations,
  timers: Timers
})
type Services = Effect.Effect.Success<typeof services>

interface Deps extends Services {
  readonly startMs: number
  readonly runFork: typeof Effect.runFork
  readonly oneAtATime: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly accounts: Map<string, KeyAccount>
  /** Keys with limits that have not been asked for since the start: their accounts are made when they are. */
  readonly waiting: Set<string>
  readonly budgets: Map<string, Budget>
  readonly limits: TokenLimits
  /** Limits of people and teams, by the id of the limit. */
  readonly shared: Map<string, SharedMeter>
  /** Requests that were booked while sums are being made, for the meters they are made for. */
  readonly booking: Set<Array<Booked>>
  /** Notices of before the start, by limit. */
  readonly notices: Map<string, LimitNotice>
  /** Amounts that were used before the start. */
  usedBefore: UsedAtStart
  /** Books of workers; those of one process alone are empty. */
  workers: WorkersBooks
  readonly onChanged: Set<(apiKeyId: string) => void>
}

/** Changes of limits are made one at a time. */
const inTurn = <A, E>(change: Effect.Effect<A, E>, { oneAtATime }: Deps): Effect.Effect<A, E> => oneAtATime(change)

const specsFor = ({ budgets, keys, limits }: Deps, apiKeyId: string): ReadonlyArray<MeterSpec> =>
  metersOf(budgets.get(apiKeyId) ?? null, limits.of(apiKeyId), keys.get(apiKeyId))

/** Puts a meter in force that begins with what the log has of its window, and with what was booked while that was read. */
const install = Effect.fnUntraced(function* (
  deps: Deps,
  account: KeyAccount,
  apiKeyId: string,
  spec: MeterSpec,
  atMs: number
) {
  const { booking, journal, spend } = deps
  const meter = new Meter(spec)
  const window = meter.at(atMs)
  const since: Array<Booked> = [...deps.workers.waiting(apiKeyId)]
  let included: ReadonlySet<string> = new Set()
  booking.add(since)
  const counting = Effect.gen(function* () {
    // Rows of requests that have just ended come to the journal at the end of the turn.
    yield* nextTurn(deps)
    yield* journal.flush
    const scope = spec.scope ?? {}
    const query = { apiKeyId, sinceMs: window.startMs, untilMs: window.endMs, ...scope }
    if (spec.unit === "requests") {
      window.used += (yield* spend.arrivals(apiKeyId, window.startMs, spec.limit)).length
    } else {
      const sum = yield* spend.sumWith(query, () => since.map(({ requestId }) => requestId))
      included = sum.included
      window.used += spec.unit === "usd" ? sum.costNanoUsd : sum.tokens
    }
    for (const { apiKeyId: bookedFor, charges, receivedMs, requestId } of since) {
      if (bookedFor !== apiKeyId || included.has(requestId)) continue
      for (const charge of charges) {
        if (meter.counts(charge.provider, charge.model)) meter.at(receivedMs).used += meter.amountOf(charge)
      }
    }
    account.meters = [...account.meters, meter]
    account.reserveAgain(meter)
  })
  yield* Effect.ensuring(
    counting,
    Effect.sync(() => void booking.delete(since))
  )
})

const markNotified = ({ startMs, notices }: Deps, account: KeyAccount | undefined): void => {
  for (const meter of account?.own ?? none) {
    const window = meter.at(startMs)
    const last = notices.get(meter.spec.id)
    window.notified = last?.windowStartMs === window.startMs ? last.threshold : null
  }
}

/** Hot: the account of a key; undefined while it has no limits. */
const accountOf = (deps: Deps, apiKeyId: string): KeyAccount | undefined => {
  const { accounts, startMs, usedBefore, waiting } = deps
  const known = accounts.get(apiKeyId)
  if (known !== undefined || !waiting.delete(apiKeyId)) return known
  const account = new KeyAccount()
  account.meters = metersAtStart(apiKeyId, specsFor(deps, apiKeyId), usedBefore, startMs)
  markNotified(deps, account)
  shareWith(deps, account, apiKeyId)
  accounts.set(apiKeyId, account)
  return account
}

/** Makes the meters of a key anew; those whose windows stay the same keep what they have counted. */
const rebuild = Effect.fnUntraced(function* (deps: Deps, apiKeyId: string) {
  const account = accountOf(deps, apiKeyId) ?? new KeyAccount()
  deps.accounts.set(apiKeyId, account)
  const specs = specsFor(deps, apiKeyId)
  const known = (spec: MeterSpec) => account.meters.find((meter) => isSameMeter(meter.spec, spec))
  const fresh = specs.filter((spec) => known(spec) === undefined)
  account.meters = [...specs.flatMap((spec) => known(spec)?.resized(spec) ?? []), ...account.shared]
  const atMs = yield* Clock.currentTimeMillis
  for (const spec of fresh) yield* install(deps, account, apiKeyId, spec, atMs)
  const sharedBefore = account.shared
  const place = new Map(specs.map(({ id }, index) => [id, index]))
  account.meters = account.own.toSorted((a, b) => (place.get(a.spec.id) ?? 0) - (place.get(b.spec.id) ?? 0))
  account.meters = [...account.meters, ...sharedBefore]
  shareWith(deps, account, apiKeyId)
  changed(deps, apiKeyId)
})

const changed = ({ onChanged }: Deps, apiKeyId: string): void => {
  for (const listener of onChanged) listener(apiKeyId)
}

const tell = (
  { events, repo, runFork, timers }: Deps,
  apiKeyId: string,
  requestId: string,
  { meter, threshold, window }: Reached
): void => {
  const { id, limit, rule, unit } = meter.spec
  const scale = unit === "usd" ? nanoUsdPerUsd : 1
  events.publish({
    type: "quota.exceeded",
    atMs: timers.nowMs(),
    requestId,
    apiKeyId,
    quota: unit === "usd" ? "budget" : unit === "tokens" ? "tokens" : "rate",
    threshold,
    limitId: id,
    window: rule.interval,
    windowStartMs: window.startMs,
    limit: limit / scale,
    used: window.used / scale,
    pct: limit > 0 ? (100 * window.used) / limit : 100
  })
  const notice = repo.putNotice({ limitId: id, windowStartMs: window.startMs, threshold })
  runFork(Effect.catchAll(notice, (error) => Effect.logWarning(`A notice could not be stored: ${error.message}`)))
}

const tellOnce = (deps: Deps, apiKeyId: string, requestId: string, obstacle: Obstacle): void => {
  const { isReserved, meter, window } = obstacle
  if (window.notified === "limit" || isReserved) return
  window.notified = "limit"
  tell(deps, apiKeyId, requestId, { meter, window, threshold: "limit" })
}

const refused = (deps: Deps, apiKeyId: string, requestId: string, obstacle: Obstacle): LimitReached => {
  tellOnce(deps, apiKeyId, requestId, obstacle)
  const { isReserved, meter, window } = obstacle
  return meterReached(meter.spec, window, isReserved, deps.timers.nowMs())
}

const overRate = (account: KeyAccount, atMs: number, session: string | null): LimitReached | null => {
  for (const rate of account.rates) {
    const waitMs = rate.waitMs(atMs)
    if (waitMs > 0) return rateReached(rate.limit, rate.windowMs, waitMs)
  }
  const { maxSessions, sessions } = account
  if (session === null || sessions.has(session) || sessions.size < maxSessions) return null
  return sessionsReached(maxSessions)
}

/** The account of a key whose own settings may be all that limits it. */
const accountFor = (deps: Deps, key: ApiKey): KeyAccount | undefined => {
  const known = accountOf(deps, key.id)
  if (known === undefined && !hasRates(key)) return undefined
  const account = known ?? new KeyAccount()
  if (known === undefined) deps.accounts.set(key.id, account)
  account.follow(key)
  return account.hasLimits ? account : undefined
}

const admit = (
  deps: Deps,
  key: ApiKey,
  { isCountedBefore, isPromised = false, receivedMs, requestId, sessionId }: AdmissionRequest
): Commitment | LimitReached | null => {
  const { timers } = deps
  const account = accountFor(deps, key)
  if (account === undefined) return null
  const usedUp = account.usedUp(receivedMs)
  if (usedUp !== null && !isPromised) return refused(deps, key.id, requestId, usedUp)
  if (isCountedBefore) {
    return new AccountCommitment({ account, apiKeyId: key.id, requestId, receivedMs, session: null, isPromised })
  }
  const session = account.maxSessions === 0 ? null : (sessionId ?? requestId)
  const atMs = timers.monotonicMs()
  const over = overRate(account, atMs, session)
  if (over !== null) return over
  account.admitted(atMs, receivedMs)
  return new AccountCommitment({ account, apiKeyId: key.id, requestId, receivedMs, session })
}

const pauseMs = (deps: Deps, key: ApiKey): number => {
  const account = hasRates(key) ? accountOf(deps, key.id) : undefined
  if (account === undefined) return 0
  account.follow(key)
  // As the session of a request that has not come yet.
  return overRate(account, deps.timers.monotonicMs(), account.maxSessions === 0 ? null : "")?.retryAfterMs ?? 0
}

/** Notes a cost for the limits that are being put in force. */
const note = ({ booking }: Deps, booked: Booked): void => {
  for (const since of booking) since.push(booked)
}

const settle = (deps: Deps, commitment: Commitment, charges: ReadonlyArray<Charge>): void => {
  const { apiKeyId, receivedMs, requestId } = commitment
  note(deps, { requestId, apiKeyId, receivedMs, charges, isCounted: false })
  for (const reached of commitment.settle(charges)) tell(deps, apiKeyId, requestId, reached)
}

const isSummed = (deps: Deps, apiKeyId: string) =>
  specsFor(deps, apiKeyId).every((spec) => deps.usedBefore(apiKeyId, spec, windowAt(spec.rule, deps.startMs)) !== null)

const putBudget = Effect.fn("KeyLimits.putBudget")(function* (deps: Deps, budget: Budget) {
  const { budgets, repo } = deps
  yield* repo.putBudget(budget)
  accountOf(deps, budget.apiKeyId)
  budgets.set(budget.apiKeyId, budget)
  yield* rebuild(deps, budget.apiKeyId)
}, inTurn)

const removeBudget = Effect.fn("KeyLimits.removeBudget")(function* (deps: Deps, apiKeyId: string) {
  const { budgets, repo } = deps
  const wasThere = yield* repo.removeBudget(apiKeyId)
  accountOf(deps, apiKeyId)
  budgets.delete(apiKeyId)
  yield* rebuild(deps, apiKeyId)
  return wasThere
}, inTurn)

const putTokenLimit = Effect.fn("KeyLimits.putTokenLimit")(function* (deps: Deps, limit: TokenLimit) {
  const { limits, repo } = deps
  if (!(yield* repo.updateTokenLimit(limit))) yield* repo.insertTokenLimit(limit)
  accountOf(deps, limit.apiKeyId)
  limits.put(limit)
  yield* rebuild(deps, limit.apiKeyId)
}, inTurn)

const removeTokenLimit = Effect.fn("KeyLimits.removeTokenLimit")(function* (deps: Deps, id: string) {
  const { limits, repo } = deps
  const wasThere = yield* repo.removeTokenLimit(id)
  const known = limits.get(id)
  if (known !== undefined) accountOf(deps, known.apiKeyId)
  limits.delete(id)
  if (known !== undefined) yield* rebuild(deps, known.apiKeyId)
  return wasThere
}, inTurn)

const limitsChanged = Effect.fn("KeyLimits.limitsChanged")(function* (deps: Deps, apiKeyId: string) {
  const { budgets, limits, repo } = deps
  const budget = (yield* repo.budgets).find((each) => each.apiKeyId === apiKeyId)
  const ofKey = (yield* repo.tokenLimits).filter((each) => each.apiKeyId === apiKeyId)
  accountOf(deps, apiKeyId)
  if (budget === undefined) budgets.delete(apiKeyId)
  else budgets.set(apiKeyId, budget)
  limits.forgetKey(apiKeyId)
  for (const limit of ofKey) limits.put(limit)
  yield* rebuild(deps, apiKeyId)
}, inTurn)

const forgetKey = Effect.fn("KeyLimits.forgetKey")(function* (deps: Deps, apiKeyId: string) {
  const { accounts, budgets, limits, repo, waiting } = deps
  yield* repo.removeKey(apiKeyId)
  budgets.delete(apiKeyId)
  limits.forgetKey(apiKeyId)
  // What its last requests cost still counts for its person and teams.
  const account = accounts.get(apiKeyId)
  if (account !== undefined && account.shared.length > 0) account.meters = account.shared
  else accounts.delete(apiKeyId)
  waiting.delete(apiKeyId)
  changed(deps, apiKeyId)
}, inTurn)

/** Counts requests of an earlier run for the rates of their keys. Most keys have not asked lately. */
const rememberArrivals = Effect.fnUntraced(function* (deps: Deps) {
  const { accounts, keys, spend, startMs, timers } = deps
  const rated: Array<readonly [key: ApiKey, longestMs: number]> = []
  let longestOfAllMs = 0
  for (const key of keys.list()) {
    if (!hasRates(key)) continue
    const longestMs = longestRateMs(key)
    longestOfAllMs = Math.max(longestOfAllMs, longestMs)
    if (longestMs > 0) rated.push([key, longestMs])
  }
  if (rated.length === 0) return
  const last = yield* spend.lastArrivals(startMs - longestOfAllMs)
  for (const [key, longestMs] of rated) {
    if ((last.get(key.id) ?? Number.NEGATIVE_INFINITY) < startMs - longestMs) continue
    const account = accountOf(deps, key.id) ?? new KeyAccount()
    accounts.set(key.id, account)
    account.follow(key)
    const arrivals = yield* spend.arrivals(key.id, startMs - longestMs, mostArrivals)
    account.remember(arrivals.map((atMs) => atMs - startMs + timers.monotonicMs()))
  }
})

/** Books what an ended process left open, before anything is counted. */
const bookLeftovers = Effect.fnUntraced(function* ({ jobs, journal, reservations, spend }: Services, startMs: number) {
  const { forget, open } = reservations.leftovers
  const booked = yield* spend.booked(open.map(({ requestId }) => requestId))
  // A job that a provider still has is gone on with: it reserves anew, and is booked when it is over.
  const running = new Set((yield* jobs.open).flatMap(({ requestId, ticket }) => (ticket === null ? [] : [requestId])))
  const lost = open.filter(({ requestId }) => !booked.has(requestId) && !running.has(requestId))
  const [first, ...more] = lost.map((request) => recoveredRow(request, startMs))
  if (first !== undefined) {
    journal.append(first, ...more)
    yield* Effect.logWarning(
      `${lost.length} request${lost.length === 1 ? " was" : "s were"} under way when the gateway ended; what was reserved is booked as an estimate.`
    )
  }
  yield* journal.flush
  yield* forget
})

/** Reads the limits of all keys, and what was used of them before the start. */
const readLimits = Effect.fnUntraced(function* (deps: Deps) {
  const { accounts, keys, people, repo, spend, startMs, waiting } = deps
  for (const budget of yield* repo.budgets) deps.budgets.set(budget.apiKeyId, budget)
  for (const limit of yield* repo.tokenLimits) deps.limits.put(limit)
  for (const notice of yield* repo.notices) deps.notices.set(notice.limitId, notice)
  for (const key of keys.list()) if (specsFor(deps, key.id).length > 0) waiting.add(key.id)
  for (const shared of sharedSpecs(people.directory()).values()) yield* installShared(deps, shared, startMs)
  const specs = Iterable.map(waiting, (apiKeyId) => specsFor(deps, apiKeyId))
  deps.usedBefore = yield* usedAtStart(spend, specs, startMs)
  // Keys with windows of their own.
  for (const apiKeyId of waiting) {
    if (isSummed(deps, apiKeyId)) continue
    yield* rebuild(deps, apiKeyId)
    markNotified(deps, accounts.get(apiKeyId))
  }
})

const bookFor = (deps: Deps, booked: Booked): void => {
  const { apiKeyId, charges, isCounted, receivedMs, requestId } = booked
  note(deps, booked)
  const account = accountOf(deps, apiKeyId)
  if (account === undefined) return
  for (const charge of charges) account.book(receivedMs, charge.provider, charge.model, charge)
  if (isCounted) account.count(receivedMs, 1)
  for (const reached of account.tellReached(receivedMs)) tell(deps, apiKeyId, requestId, reached)
}

const unbook = (deps: Deps, { apiKeyId, charges, isCounted, receivedMs }: Booked): void => {
  const account = accountOf(deps, apiKeyId)
  for (const { model, nanoUsd, provider, tokens } of charges) {
    account?.book(receivedMs, provider, model, { nanoUsd: -nanoUsd, tokens: -tokens })
  }
  if (isCounted) account?.count(receivedMs, -1)
}

const limitedKeys = ({ budgets, keys, limits, people, shared }: Deps): ReadonlyArray<string> => {
  const found = new Set(budgets.keys())
  const directory = people.directory()
  for (const { apiKeyId } of limits.list()) found.add(apiKeyId)
  for (const key of keys.list()) {
    if (hasRates(key) || sharedOf(shared, directory, key).length > 0) found.add(key.id)
  }
  return [...found]
}

const truthOf = (deps: Deps): typeof LedgerTruth.Service => ({
  account: (apiKeyId) => {
    const key = deps.keys.get(apiKeyId)
    return key === null ? undefined : accountFor(deps, key)
  },
  shared: (limitId) => deps.shared.get(limitId)?.meter,
  limited: () => limitedKeys(deps),
  tellOnce: (apiKeyId, requestId, obstacle) => tellOnce(deps, apiKeyId, requestId, obstacle),
  tellReached: (apiKeyId, requestId, reached) => {
    reached.window.notified = reached.threshold
    tell(deps, apiKeyId, requestId, reached)
  },
  book: (booked) => bookFor(deps, booked),
  note: (booked) => note(deps, booked),
  unbook: (booked) => unbook(deps, booked),
  onChanged: (listener) => {
    deps.onChanged.add(listener)
    return () => void deps.onChanged.delete(listener)
  },
  attach: (books) => {
    deps.workers = books
  }
})

export const make = Effect.gen(function* () {
  const all = yield* services
  const startMs = yield* Clock.currentTimeMillis
  yield* bookLeftovers(all, startMs)
  const limits = new TokenLimits()
  const accounts = new Map<string, KeyAccount>()
  const deps: Deps = {
    ...all,
    startMs,
    runFork: Runtime.runFork(yield* Effect.runtime<never>()),
    oneAtATime: makeLane(1).inTurn,
    accounts,
    waiting: new Set(),
    budgets: new Map(),
    limits,
    shared: new Map(),
    booking: new Set(),
    notices: new Map(),
    usedBefore: () => null,
    workers: { waiting: () => none, opening: () => null, gather: (_, then) => then(), shown: () => none },
    onChanged: new Set()
  }
  yield* readLimits(deps)
  yield* rememberArrivals(deps)

  const limitsOfKeys = KeyLimits.of({
    admit: (key, request) => {
      const opening = deps.workers.opening()
      return opening === null ? admit(deps, key, request) : opening.map<Admitted>(() => admit(deps, key, request))
    },
    pauseMs: (key) => pauseMs(deps, key),
    refuse: ({ apiKeyId, requestId }, obstacle) => refused(deps, apiKeyId, requestId, obstacle),
    settle: (commitment, charges) => settle(deps, commitment, charges),
    mayCount: (apiKeyId) => deps.booking.size > 0 || accounts.has(apiKeyId),
    book: (booked) => bookFor(deps, booked),
    standings: (apiKeyId, atMs) =>
      (accountOf(deps, apiKeyId)?.own ?? none).map((meter) => ({ spec: meter.spec, window: meter.at(atMs) })),
    gather: (apiKeyId) => Effect.async((resume) => deps.workers.gather(apiKeyId, () => resume(Effect.void))),
    commitments: (apiKeyId) => {
      const isAsked = (id: string): boolean => apiKeyId === undefined || id === apiKeyId
      const found: Array<Holder> = deps.workers.shown().filter((holder) => isAsked(holder.apiKeyId))
      for (const [id, { holders }] of accounts) if (isAsked(id)) found.push(...holders)
      return found
    },
    budgets: () => [...deps.budgets.values()],
    tokenLimits: () => limits.list(),
    putBudget: (budget) => putBudget(deps, budget),
    removeBudget: (apiKeyId) => removeBudget(deps, apiKeyId),
    putTokenLimit: (limit) => putTokenLimit(deps, limit),
    removeTokenLimit: (id) => removeTokenLimit(deps, id),
    keyChanged: (apiKeyId) => deps.oneAtATime(rebuild(deps, apiKeyId)),
    limitsChanged: (apiKeyId) => limitsChanged(deps, apiKeyId),
    forgetKey: (apiKeyId) => forgetKey(deps, apiKeyId),
    ownersChanged: deps.oneAtATime(refreshShared(deps)),
    ownerStandings: (ownerId, atMs) =>
      [...deps.shared.values()].flatMap(({ meter }) =>
        meter.spec.owner?.id === ownerId ? [{ spec: meter.spec, window: meter.at(atMs) }] : []
      )
  })
  return { limits: limitsOfKeys, truth: truthOf(deps) }
})

type Requirements = Effect.Effect.Context<typeof services>

export const layer: Layer.Layer<KeyLimits, StoreError, Requirements> = Layer.effect(
  KeyLimits,
  Effect.map(make, ({ limits }) => limits)
)

/** Layer of the process that owns the accounts, beside others that draw on them. */
export const layerOwner: Layer.Layer<KeyLimits | LedgerTruth, StoreError, Requirements> = Layer.effectContext(
  Effect.map(make, ({ limits, truth }) => Context.make(KeyLimits, limits).pipe(Context.add(LedgerTruth, truth)))
)
