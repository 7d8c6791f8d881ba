/** Budgets and token limits of API keys, their state, and the ledger. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { SetBudget, SetTokenLimit } from "./routes.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import type { LedgerState } from "../../contract/domain/Ledger.ts"
import type { Budget, ResetInterval, TokenLimit } from "./entity.ts"
import { KeyLimits, type Standing } from "../../plane/ledger/KeyLimits.ts"
import { windowAt } from "../../plane/ledger/Windows.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import { type LedgerCursor, type LedgerEntry, LedgerRepo } from "../usage/LedgerRepo.ts"
import { ownersOf } from "../people/Owners.ts"
import { People } from "../people/People.ts"
import { type Spend, SpendRepo } from "../usage/SpendRepo.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import * as Errors from "../Errors.ts"
import * as Rules from "./rules.ts"

/** A key's budget as it is; money in nano-USD, times in epoch milliseconds. */
export interface BudgetStatus {
  readonly apiKeyId: string
  readonly budget: Budget | null
  readonly spentNanoUsd: number
  readonly reservedNanoUsd: number
  /** Rest of the tightest limit; null without a budget. */
  readonly remainingNanoUsd: number | null
  readonly windowStartMs: number
  readonly nextResetAtMs: number
  /** A limit is used to its warning threshold. */
  readonly warning: boolean
  readonly windows: ReadonlyArray<Standing>
}

export interface TokenLimitStatus {
  readonly limit: TokenLimit
  readonly used: number
  readonly reserved: number
  readonly windowStartMs: number
  readonly nextResetAtMs: number
}

/** An entry of the ledger, also of a call that runs. */
export interface LedgerView extends Omit<LedgerEntry, "state" | "settledNanoUsd" | "settledAtMs"> {
  readonly state: LedgerState
  readonly settledNanoUsd: number | null
  readonly settledAtMs: number | null
}

export interface LedgerQuery {
  readonly limit: number | null
  readonly cursor: LedgerCursor | null
  readonly apiKeyId?: string
  readonly requestId?: string
}

/** A person or a team of a key, with the limits that its keys share. */
export interface OwnerUsage {
  readonly kind: "user" | "team"
  readonly id: string
  readonly name: string
  readonly standings: ReadonlyArray<Standing>
}

/** Facts that a key may see about itself. */
export interface OwnUsage {
  readonly budget: BudgetStatus
  readonly limits: ReadonlyArray<TokenLimitStatus>
  /** The person and the teams of the key, the nearest first. */
  readonly owners: ReadonlyArray<OwnerUsage>
  readonly today: Spend
  readonly month: Spend
}

export class Limits extends Context.Tag("gateway/subjects/limits/Limits")<
  Limits,
  {
    readonly budgets: Effect.Effect<ReadonlyArray<BudgetStatus>, StoreError>
    readonly budget: (apiKeyId: string) => Effect.Effect<BudgetStatus, Errors.EntityNotFound | StoreError>
    /** Replaces the budget that the key has. */
    readonly setBudget: (
      input: SetBudget
    ) => Effect.Effect<BudgetStatus, Errors.EntityNotFound | Errors.InvalidInput | StoreError>
    readonly removeBudget: (apiKeyId: string) => Effect.Effect<void, Errors.EntityNotFound | StoreError>
    /** Oldest first. */
    readonly tokenLimits: (
      apiKeyId?: string
    ) => Effect.Effect<ReadonlyArray<TokenLimitStatus>, Errors.EntityNotFound | StoreError>
    readonly setTokenLimit: (
      input: SetTokenLimit
    ) => Effect.Effect<TokenLimitStatus, Errors.EntityNotFound | Errors.InvalidInput | StoreError>
    readonly removeTokenLimit: (id: string) => Effect.Effect<void, Errors.EntityNotFound | StoreError>
    /** Newest first; calls that run come before all others. */
    readonly ledger: (
      query: LedgerQuery
    ) => Effect.Effect<
      { readonly entries: ReadonlyArray<LedgerView>; readonly nextCursor: LedgerCursor | null },
      StoreError
    >
    readonly ownUsage: (apiKeyId: string) => Effect.Effect<OwnUsage, Errors.EntityNotFound | StoreError>
  }
>() {}

const defaultLimit = 50

const intervalOf = (interval: ResetInterval) => ({ interval, resetTime: "00:00", timeZone: "UTC" })

const services = Effect.all({
  keys: ApiKeys,
  people: People,
  limits: KeyLimits,
  ids: IdGen,
  journal: UsageJournal,
  repo: LedgerRepo,
  spend: SpendRepo,
  slices: Slices
})
type Services = Effect.Effect.Success<typeof services>

const known = ({ keys }: Services, apiKeyId: string): Effect.Effect<void, Errors.EntityNotFound> =>
  keys.get(apiKeyId) === null
    ? new Errors.EntityNotFound({ entity: "API key", id: apiKeyId, field: "apiKeyId" })
    : Effect.void

const spentSince = (
  { journal, spend }: Services,
  apiKeyId: string,
  interval: ResetInterval,
  nowMs: number
): Effect.Effect<Spend, StoreError> => {
  const { endMs, startMs } = windowAt(intervalOf(interval), nowMs)
  return Effect.zipRight(journal.catchUp, spend.sum({ apiKeyId, sinceMs: startMs, untilMs: endMs }))
}

const withoutBudget = Effect.fnUntraced(function* (services: Services, apiKeyId: string, nowMs: number) {
  const { endMs, startMs } = windowAt(intervalOf("monthly"), nowMs)
  const { costNanoUsd } = yield* spentSince(services, apiKeyId, "monthly", nowMs)
  const status: BudgetStatus = {
    apiKeyId,
    budget: null,
    spentNanoUsd: costNanoUsd,
    reservedNanoUsd: 0,
    remainingNanoUsd: null,
    windowStartMs: startMs,
    nextResetAtMs: endMs,
    warning: false,
    windows: []
  }
  return status
})

const statusOf = ({ limits }: Services, budget: Budget, nowMs: number): BudgetStatus => {
  const { apiKeyId, resetInterval, resetTime, timeZone, warningThreshold } = budget
  const windows = limits.standings(apiKeyId, nowMs).filter(({ spec }) => spec.unit === "usd")
  const shown = windows.find(({ spec }) => spec.rule.interval === resetInterval) ?? windows[0]
  const window = shown?.window ?? {
    ...windowAt({ interval: resetInterval, resetTime, timeZone }, nowMs),
    used: 0,
    reserved: 0
  }
  return {
    apiKeyId,
    budget,
    spentNanoUsd: window.used,
    reservedNanoUsd: window.reserved,
    remainingNanoUsd: Math.min(
      ...windows.map(({ spec, window: { reserved, used } }) => Math.max(0, spec.limit - used - reserved))
    ),
    windowStartMs: window.startMs,
    nextResetAtMs: window.endMs,
    warning: windows.some(({ spec, window: { used } }) => used >= spec.limit * warningThreshold),
    windows
  }
}

const budgetOf = ({ limits }: Services, apiKeyId: string): Budget | null =>
  limits.budgets().find((budget) => budget.apiKeyId === apiKeyId) ?? null

const budget = Effect.fn("Limits.budget")(function* (services: Services, apiKeyId: string) {
  yield* known(services, apiKeyId)
  const nowMs = yield* Clock.currentTimeMillis
  yield* services.limits.gather(apiKeyId)
  const found = budgetOf(services, apiKeyId)
  return found === null ? yield* withoutBudget(services, apiKeyId, nowMs) : statusOf(services, found, nowMs)
})

const budgets = Effect.fnUntraced(function* (services: Services) {
  const nowMs = yield* Clock.currentTimeMillis
  yield* services.limits.gather(null)
  const found: Array<BudgetStatus> = []
  yield* services.slices.each(services.limits.budgets(), (each) => {
    found.push(statusOf(services, each, nowMs))
  })
  return found
})

const setBudget = Effect.fn("Limits.setBudget")(function* (services: Services, input: SetBudget) {
  yield* known(services, input.apiKeyId)
  const nowMs = yield* Clock.currentTimeMillis
  const made = Rules.budgetOf(input, budgetOf(services, input.apiKeyId), nowMs)
  if (Either.isLeft(made)) return yield* new Errors.InvalidInput({ problems: [made.left] })
  yield* services.limits.putBudget(made.right)
  yield* services.limits.gather(input.apiKeyId)
  return statusOf(services, made.right, nowMs)
})

const removeBudget = Effect.fn("Limits.removeBudget")(function* (services: Services, apiKeyId: string) {
  yield* known(services, apiKeyId)
  if (yield* services.limits.removeBudget(apiKeyId)) return
  return yield* new Errors.EntityNotFound({ entity: "budget", id: apiKeyId, field: "apiKeyId" })
})

const standing = ({ limits }: Services, limit: TokenLimit, nowMs: number): TokenLimitStatus => {
  const found = limits.standings(limit.apiKeyId, nowMs).find(({ spec }) => spec.id === `tokens/${limit.id}`)
  const { resetInterval: interval, resetTime, timeZone } = limit
  const window = found?.window ?? { ...windowAt({ interval, resetTime, timeZone }, nowMs), used: 0, reserved: 0 }
  return {
    limit,
    used: window.used,
    reserved: window.reserved,
    windowStartMs: window.startMs,
    nextResetAtMs: window.endMs
  }
}

const tokenLimits = Effect.fn("Limits.tokenLimits")(function* (services: Services, apiKeyId?: string) {
  if (apiKeyId !== undefined) yield* known(services, apiKeyId)
  const nowMs = yield* Clock.currentTimeMillis
  yield* services.limits.gather(apiKeyId ?? null)
  const found: Array<TokenLimitStatus> = []
  yield* services.slices.each(services.limits.tokenLimits(), (limit) => {
    if (apiKeyId === undefined || limit.apiKeyId === apiKeyId) found.push(standing(services, limit, nowMs))
  })
  return found
})

const setTokenLimit = Effect.fn("Limits.setTokenLimit")(function* (services: Services, input: SetTokenLimit) {
  yield* known(services, input.apiKeyId)
  const nowMs = yield* Clock.currentTimeMillis
  const own = services.limits.tokenLimits().filter((limit) => limit.apiKeyId === input.apiKeyId)
  const made = Rules.tokenLimitOf(input, own, services.ids.next(nowMs), nowMs)
  if (Either.isLeft(made)) return yield* new Errors.InvalidInput({ problems: [made.left] })
  yield* Effect.catchTag(services.limits.putTokenLimit(made.right), "AlreadyStored", Effect.die)
  yield* services.limits.gather(input.apiKeyId)
  return standing(services, made.right, nowMs)
})

const removeTokenLimit = Effect.fn("Limits.removeTokenLimit")(function* ({ limits }: Services, id: string) {
  if (yield* limits.removeTokenLimit(id)) return
  return yield* new Errors.EntityNotFound({ entity: "token limit", id })
})

/** Calls that run, the newest first. */
const running = ({ limits }: Services, { apiKeyId, requestId }: LedgerQuery): ReadonlyArray<LedgerView> =>
  limits
    .commitments(apiKeyId)
    .filter((holder) => requestId === undefined || holder.requestId === requestId)
    .flatMap((holder) =>
      holder.reservations.flatMap((reservation, index) =>
        reservation.isOpen
          ? [
              {
                requestId: holder.requestId,
                attempt: index + 1,
                apiKeyId: holder.apiKeyId,
                provider: reservation.provider,
                connectionId: reservation.connectionId,
                model: reservation.model,
                state: "reserved" as const,
                reservedNanoUsd: reservation.nanoUsd,
                settledNanoUsd: null,
                price: reservation.price,
                createdAtMs: reservation.createdAtMs,
                settledAtMs: null
              }
            ]
          : []
      )
    )
    .toSorted((one, other) => other.createdAtMs - one.createdAtMs)

const ledger = Effect.fn("Limits.ledger")(function* (services: Services, query: LedgerQuery) {
  yield* services.journal.catchUp
  const { cursor, limit, ...filter } = query
  if (cursor === null) yield* services.limits.gather(filter.apiKeyId ?? null)
  // Before the page is read: a call that ends meanwhile is then in both, and not in neither.
  const open = cursor === null ? running(services, query) : []
  const page = yield* services.repo.page({ ...filter, limit: limit ?? defaultLimit, cursor })
  const settled = new Set(page.entries.map(({ requestId }) => requestId))
  return {
    entries: [...open.filter(({ requestId }) => !settled.has(requestId)), ...page.entries],
    nextCursor: page.nextCursor
  }
})

const ownUsage = Effect.fn("Limits.ownUsage")(function* (services: Services, apiKeyId: string) {
  const nowMs = yield* Clock.currentTimeMillis
  const key = services.keys.get(apiKeyId)
  const owners = key === null ? [] : ownersOf(services.people.directory(), key)
  return {
    budget: yield* budget(services, apiKeyId),
    limits: yield* tokenLimits(services, apiKeyId),
    owners: owners.map(({ kind, of: { id, name } }) => ({
      kind,
      id,
      name,
      standings: services.limits.ownerStandings(id, nowMs)
    })),
    today: yield* spentSince(services, apiKeyId, "daily", nowMs),
    month: yield* spentSince(services, apiKeyId, "monthly", nowMs)
  }
})

export const make = Effect.gen(function* () {
  const all = yield* services

  return Limits.of({
    budgets: budgets(all),
    budget: (apiKeyId) => budget(all, apiKeyId),
    setBudget: (budget) => setBudget(all, budget),
    removeBudget: (apiKeyId) => removeBudget(all, apiKeyId),
    tokenLimits: (apiKeyId) => tokenLimits(all, apiKeyId),
    setTokenLimit: (limit) => setTokenLimit(all, limit),
    removeTokenLimit: (id) => removeTokenLimit(all, id),
    ledger: (query) => ledger(all, query),
    ownUsage: (apiKeyId) => ownUsage(all, apiKeyId)
  })
})

export const layer: Layer.Layer<
  Limits,
  never,
  ApiKeys | IdGen | KeyLimits | LedgerRepo | People | Slices | SpendRepo | UsageJournal
> = Layer.effect(Limits, make)
