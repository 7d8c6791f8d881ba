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
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import type { ApiKey } from "../../subjects/keys/entity.ts"
import { LimitReached } from "../../domain/Errors.ts"
import type { Budget, TokenLimit } from "../../subjects/limits/entity.ts"
import { nanoUsdPerUsd } from "../../domain/Usage.ts"
import { Events } from "../../observe/Events.ts"
import { Timers } from "../../platform/Timers.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import { LimitRepo } from "../../subjects/limits/repo.ts"
import { MediaJobRepo } from "../../subjects/mediaJobs/repo.ts"
import { SpendRepo } from "../../subjects/usage/SpendRepo.ts"
import { Reservations } from "../../store/usage/Reservations.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { type Charge, Commitment } from "./Commitment.ts"
import { hasRates, type Holder, KeyAccount, longestRateMs, type Obstacle, type Reached } from "./KeyAccount.ts"
import { Meter, type MeterSpec, type MeterWindow } from "./Meter.ts"
import { recoveredRow } from "./Recovered.ts"
import { isSameMeter, metersOf } from "./Specs.ts"
import { metersAtStart, usedAtStart } from "./StartSums.ts"
import { TokenLimits } from "./TokenLimits.ts"
import { windowAt } from "./Windows.ts"
import { limitReached, tooManyRequests, tooManySessions } from "./LimitMessages.ts"

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

/** A limit as it is. */
export interface Standing {
  readonly spec: MeterSpec
  readonly window: Readonly<MeterWindow>
}

/** Cost of a request. */
interface Booked {
  readonly requestId: string
  readonly receivedMs: number
  readonly charges: ReadonlyArray<Charge>
}

export class KeyLimits extends Context.Tag("gateway/plane/ledger/KeyLimits")<
  KeyLimits,
  {
    /** Hot: null for a key without limits. The commitment is to be left when the request is over. */
    readonly admit: (key: ApiKey, request: AdmissionRequest) => Commitment | LimitReached | null
    /** Milliseconds until the rates and sessions of a key let one more request in, as far as it is known; 0: now. */
    readonly pauseMs: (key: ApiKey) => number
    /** Hot: refuses a call of the request by a limit, with the error for the client. */
    readonly refuse: (commitment: Commitment, obstacle: Obstacle) => LimitReached
    /** Hot: books what a request has cost. */
    readonly settle: (commitment: Commitment, charges: ReadonlyArray<Charge>) => void
    /** Limits of a key at a time. */
    readonly standings: (apiKeyId: string, nowMs: number) => ReadonlyArray<Standing>
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
    /** Removes everything of a key that no longer exists. */
    readonly forgetKey: (apiKeyId: string) => Effect.Effect<void, StoreError>
  }
>() {}

/**
 * Time in ms after which reserved amounts may come back: when the running requests have ended, which is soon, but not
 * known exactly.
 */
const heldRetryMs = 5_000
const sessionRetryMs = 1_000
/** Requests of the time before a start that are counted for rates. */
const mostArrivals = 10_000

const none: ReadonlyArray<never> = []

export const make = Effect.gen(function* () {
  const repo = yield* LimitRepo
  const spend = yield* SpendRepo
  const journal = yield* UsageJournal
  const jobs = yield* MediaJobRepo
  const keys = yield* ApiKeys
  const events = yield* Events
  const reservations = yield* Reservations
  const { monotonicMs, nowMs, soon } = yield* Timers
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)

  const accounts = new Map<string, KeyAccount>()
  /** Keys with limits that have not been asked for since the start: their accounts are made when they are. */
  const waiting = new Set<string>()
  const budgets = new Map<string, Budget>()
  const limits = new TokenLimits()
  /** Requests that were booked while sums are being made, for the meters they are made for. */
  const booking = new Set<Array<Booked>>()

  const specsFor = (apiKeyId: string): ReadonlyArray<MeterSpec> =>
    metersOf(budgets.get(apiKeyId) ?? null, limits.of(apiKeyId), keys.get(apiKeyId))

  const nextTurn = Effect.async<void>((resume) => soon(() => resume(Effect.void)))

  /** Puts a meter in force that begins with what the log has of its window, and with what was booked while that was read. */
  const install = Effect.fnUntraced(function* (account: KeyAccount, apiKeyId: string, spec: MeterSpec, atMs: number) {
    const meter = new Meter(spec)
    const window = meter.at(atMs)
    const since: Array<Booked> = []
    let included: ReadonlySet<string> = new Set()
    booking.add(since)
    const counting = Effect.gen(function* () {
      // Rows of requests that have just ended come to the journal at the end of the turn.
      yield* nextTurn
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
      for (const { charges, receivedMs, requestId } of since) {
        if (included.has(requestId)) continue
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

  const markTold = (account: KeyAccount | undefined): void => {
    for (const meter of account?.meters ?? none) {
      const window = meter.at(startMs)
      const last = told.get(meter.spec.id)
      window.told = last?.windowStartMs === window.startMs ? last.threshold : null
    }
  }

  /** Hot: the account of a key; undefined while it has no limits. */
  const accountOf = (apiKeyId: string): KeyAccount | undefined => {
    const known = accounts.get(apiKeyId)
    if (known !== undefined || !waiting.delete(apiKeyId)) return known
    const account = new KeyAccount()
    account.meters = metersAtStart(apiKeyId, specsFor(apiKeyId), usedBefore, startMs)
    markTold(account)
    accounts.set(apiKeyId, account)
    return account
  }

  /** Makes the meters of a key anew; those whose windows stay the same keep what they have counted. */
  const rebuild = Effect.fnUntraced(function* (apiKeyId: string) {
    const account = accountOf(apiKeyId) ?? new KeyAccount()
    accounts.set(apiKeyId, account)
    const specs = specsFor(apiKeyId)
    const known = (spec: MeterSpec) => account.meters.find((meter) => isSameMeter(meter.spec, spec))
    const fresh = specs.filter((spec) => known(spec) === undefined)
    account.meters = specs.flatMap((spec) => known(spec)?.resized(spec) ?? [])
    const atMs = yield* Clock.currentTimeMillis
    for (const spec of fresh) yield* install(account, apiKeyId, spec, atMs)
    const place = new Map(specs.map(({ id }, index) => [id, index]))
    account.meters = account.meters.toSorted((a, b) => (place.get(a.spec.id) ?? 0) - (place.get(b.spec.id) ?? 0))
  })

  const tell = (apiKeyId: string, requestId: string, { meter, threshold, window }: Reached): void => {
    const { id, limit, rule, unit } = meter.spec
    const scale = unit === "usd" ? nanoUsdPerUsd : 1
    events.publish({
      type: "quota.exceeded",
      atMs: nowMs(),
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

  const tellOnce = (apiKeyId: string, requestId: string, obstacle: Obstacle): void => {
    const { isHeld, meter, window } = obstacle
    if (window.told === "limit" || isHeld) return
    window.told = "limit"
    tell(apiKeyId, requestId, { meter, window, threshold: "limit" })
  }

  const refused = (apiKeyId: string, requestId: string, obstacle: Obstacle): LimitReached => {
    tellOnce(apiKeyId, requestId, obstacle)
    const { isHeld, meter, window } = obstacle
    const { rule, unit } = meter.spec
    return new LimitReached({
      message: `${limitReached(meter.spec, window, isHeld)}.`,
      retryAfterMs: isHeld ? heldRetryMs : Math.max(1, window.endMs - nowMs()),
      limit: { unit, window: rule.interval, resetsAtMs: isHeld ? null : window.endMs }
    })
  }

  const overRate = (account: KeyAccount, atMs: number, session: string | null): LimitReached | null => {
    for (const rate of account.rates) {
      const waitMs = rate.waitMs(atMs)
      if (waitMs > 0) {
        return new LimitReached({
          message: `${tooManyRequests(rate.limit, rate.windowMs)}.`,
          retryAfterMs: waitMs,
          limit: { unit: "requests", window: `${rate.windowMs / 1_000}s`, resetsAtMs: null }
        })
      }
    }
    const { maxSessions, sessions } = account
    if (session === null || sessions.has(session) || sessions.size < maxSessions) return null
    return new LimitReached({
      message: `${tooManySessions(maxSessions)}.`,
      retryAfterMs: sessionRetryMs,
      limit: { unit: "sessions", window: null, resetsAtMs: null }
    })
  }

  const admit: typeof KeyLimits.Service.admit = (
    key,
    { isCountedBefore, isPromised = false, receivedMs, requestId, sessionId }
  ) => {
    let account = accountOf(key.id)
    if (account === undefined) {
      if (!hasRates(key)) return null
      account = new KeyAccount()
      accounts.set(key.id, account)
    }
    account.follow(key)
    if (!account.hasLimits) return null
    const usedUp = account.usedUp(receivedMs)
    if (usedUp !== null && !isPromised) return refused(key.id, requestId, usedUp)
    if (isCountedBefore) {
      return new Commitment({ account, apiKeyId: key.id, requestId, receivedMs, session: null, isPromised })
    }
    const session = account.maxSessions === 0 ? null : (sessionId ?? requestId)
    const atMs = monotonicMs()
    const over = overRate(account, atMs, session)
    if (over !== null) return over
    account.admitted(atMs, receivedMs)
    return new Commitment({ account, apiKeyId: key.id, requestId, receivedMs, session })
  }

  const pauseMs: typeof KeyLimits.Service.pauseMs = (key) => {
    const account = hasRates(key) ? accountOf(key.id) : undefined
    if (account === undefined) return 0
    account.follow(key)
    // As the session of a request that has not come yet.
    return overRate(account, monotonicMs(), account.maxSessions === 0 ? null : "")?.retryAfterMs ?? 0
  }

  const settle: typeof KeyLimits.Service.settle = (commitment, charges) => {
    const { apiKeyId, receivedMs, requestId } = commitment
    for (const since of booking) since.push({ requestId, receivedMs, charges })
    for (const reached of commitment.settle(charges)) tell(apiKeyId, requestId, reached)
  }

  /** Counts requests of an earlier run for the rates of their keys. Most keys have not asked lately. */
  const rememberArrivals = Effect.gen(function* () {
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
      const account = accountOf(key.id) ?? new KeyAccount()
      accounts.set(key.id, account)
      account.follow(key)
      const arrivals = yield* spend.arrivals(key.id, startMs - longestMs, mostArrivals)
      account.remember(arrivals.map((atMs) => atMs - startMs + monotonicMs()))
    }
  })

  // Books what an ended process left open, before anything is counted.
  const { forget, open } = reservations.leftovers
  const startMs = yield* Clock.currentTimeMillis
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

  for (const budget of yield* repo.budgets) budgets.set(budget.apiKeyId, budget)
  for (const limit of yield* repo.tokenLimits) limits.put(limit)
  const told = new Map((yield* repo.notices).map((notice) => [notice.limitId, notice]))
  for (const key of keys.list()) if (specsFor(key.id).length > 0) waiting.add(key.id)
  const usedBefore = yield* usedAtStart(spend, Iterable.map(waiting, specsFor), startMs)
  const isSummed = (apiKeyId: string) =>
    specsFor(apiKeyId).every((spec) => usedBefore(apiKeyId, spec, windowAt(spec.rule, startMs)) !== null)
  // Keys with windows of their own.
  for (const apiKeyId of waiting) {
    if (isSummed(apiKeyId)) continue
    yield* rebuild(apiKeyId)
    markTold(accounts.get(apiKeyId))
  }
  yield* rememberArrivals

  const putBudget = Effect.fn("KeyLimits.putBudget")(function* (budget: Budget) {
    yield* repo.putBudget(budget)
    accountOf(budget.apiKeyId)
    budgets.set(budget.apiKeyId, budget)
    yield* rebuild(budget.apiKeyId)
  }, oneAtATime)

  const removeBudget = Effect.fn("KeyLimits.removeBudget")(function* (apiKeyId: string) {
    const wasThere = yield* repo.removeBudget(apiKeyId)
    accountOf(apiKeyId)
    budgets.delete(apiKeyId)
    yield* rebuild(apiKeyId)
    return wasThere
  }, oneAtATime)

  const putTokenLimit = Effect.fn("KeyLimits.putTokenLimit")(function* (limit: TokenLimit) {
    if (!(yield* repo.updateTokenLimit(limit))) yield* repo.insertTokenLimit(limit)
    accountOf(limit.apiKeyId)
    limits.put(limit)
    yield* rebuild(limit.apiKeyId)
  }, oneAtATime)

  const removeTokenLimit = Effect.fn("KeyLimits.removeTokenLimit")(function* (id: string) {
    const wasThere = yield* repo.removeTokenLimit(id)
    const known = limits.get(id)
    if (known !== undefined) accountOf(known.apiKeyId)
    limits.delete(id)
    if (known !== undefined) yield* rebuild(known.apiKeyId)
    return wasThere
  }, oneAtATime)

  const forgetKey = Effect.fn("KeyLimits.forgetKey")(function* (apiKeyId: string) {
    yield* repo.removeKey(apiKeyId)
    budgets.delete(apiKeyId)
    limits.forgetKey(apiKeyId)
    accounts.delete(apiKeyId)
    waiting.delete(apiKeyId)
  }, oneAtATime)

  return KeyLimits.of({
    admit,
    pauseMs,
    refuse: ({ apiKeyId, requestId }, obstacle) => refused(apiKeyId, requestId, obstacle),
    settle,
    standings: (apiKeyId, atMs) =>
      (accountOf(apiKeyId)?.meters ?? none).map((meter) => ({ spec: meter.spec, window: meter.at(atMs) })),
    commitments: (apiKeyId) => {
      const found: Array<Holder> = []
      for (const [id, { holders }] of accounts) if (apiKeyId === undefined || id === apiKeyId) found.push(...holders)
      return found
    },
    budgets: () => [...budgets.values()],
    tokenLimits: () => limits.list(),
    putBudget,
    removeBudget,
    putTokenLimit,
    removeTokenLimit,
    keyChanged: (apiKeyId) => oneAtATime(rebuild(apiKeyId)),
    forgetKey
  })
})

export const layer: Layer.Layer<
  KeyLimits,
  StoreError,
  ApiKeys | Events | LimitRepo | MediaJobRepo | Reservations | SpendRepo | Timers | UsageJournal
> = Layer.effect(KeyLimits, make)
