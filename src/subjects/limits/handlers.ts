/** `/api/usage/budget`, `/api/usage/token-limits`, `/api/usage/ledger` and `/api/usage/me`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Limits as LimitsGroup } from "./routes.ts"
import type { BudgetStatusView, LedgerEntryView, SetBudget, TokenLimitView } from "./routes.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { type GivenLimit, limitProblem, reaches } from "../people/Bounds.ts"
import { People } from "../people/People.ts"
import { EntityNotFound, InvalidInput, refuseRole } from "../Errors.ts"
import { makeCallerBounds } from "../../entry/handling/CallerBounds.ts"
import { toNanoUsd } from "./rules.ts"
import { makeOwnKey } from "../../entry/handling/OwnKey.ts"
import type { Budget } from "./entity.ts"
import type { Standing } from "../../plane/ledger/KeyLimits.ts"
import { type BudgetStatus, type LedgerView, Limits, type TokenLimitStatus } from "./service.ts"
import type { LedgerCursor } from "../usage/LedgerRepo.ts"
import type { Spend } from "../usage/SpendRepo.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { asJson, entriesAnswer } from "../../entry/handling/Lists.ts"
import { meterView } from "../../entry/handling/OwnerViews.ts"
import { iso, isoOrNull, usd } from "../../entry/handling/Views.ts"

const usdOrNull = (nanoUsd: number | null): number | null => (nanoUsd === null ? null : usd(nanoUsd))

const budgetView = (budget: Budget) => ({
  apiKeyId: budget.apiKeyId,
  dailyLimitUsd: usd(budget.dailyLimitNanoUsd),
  weeklyLimitUsd: usd(budget.weeklyLimitNanoUsd),
  monthlyLimitUsd: usd(budget.monthlyLimitNanoUsd),
  warningThreshold: budget.warningThreshold,
  resetInterval: budget.resetInterval,
  resetTime: budget.resetTime,
  tz: budget.timeZone,
  createdAt: iso(budget.createdAtMs),
  updatedAt: iso(budget.updatedAtMs)
})

const windowView = ({ spec, window }: Standing) => ({
  interval: spec.rule.interval,
  limitUsd: usd(spec.limit),
  spentUsd: usd(window.used),
  reservedUsd: usd(window.reserved),
  windowStart: iso(window.startMs),
  nextResetAt: iso(window.endMs)
})

const budgetStatusView = (status: BudgetStatus): BudgetStatusView => ({
  apiKeyId: status.apiKeyId,
  budget: status.budget === null ? null : budgetView(status.budget),
  spentUsd: usd(status.spentNanoUsd),
  reservedUsd: usd(status.reservedNanoUsd),
  remainingUsd: usdOrNull(status.remainingNanoUsd),
  windowStart: iso(status.windowStartMs),
  nextResetAt: iso(status.nextResetAtMs),
  warning: status.warning,
  windows: status.windows.map(windowView)
})

const tokenLimitView = ({ limit, ...status }: TokenLimitStatus): TokenLimitView => ({
  id: limit.id,
  apiKeyId: limit.apiKeyId,
  scopeType: limit.scopeType,
  scopeValue: limit.scopeValue === "" ? null : limit.scopeValue,
  tokenLimit: limit.tokenLimit,
  resetInterval: limit.resetInterval,
  resetTime: limit.resetTime,
  tz: limit.timeZone,
  enabled: limit.enabled,
  tokensUsed: status.used,
  tokensReserved: status.reserved,
  remaining: Math.max(0, limit.tokenLimit - status.used - status.reserved),
  windowStart: iso(status.windowStartMs),
  nextResetAt: iso(status.nextResetAtMs),
  createdAt: iso(limit.createdAtMs),
  updatedAt: iso(limit.updatedAtMs)
})

const cursorText = ({ attempt, requestId }: LedgerCursor): string => `${requestId}.${attempt}`

const cursorOf = (text: string | undefined): LedgerCursor | null => {
  if (text === undefined) return null
  const dot = text.lastIndexOf(".")
  return { requestId: text.slice(0, dot), attempt: Number(text.slice(dot + 1)) }
}

const entryView = (entry: LedgerView): LedgerEntryView => ({
  id: cursorText(entry),
  requestId: entry.requestId,
  attempt: entry.attempt,
  apiKeyId: entry.apiKeyId,
  provider: entry.provider,
  connectionId: entry.connectionId,
  model: entry.model,
  state: entry.state,
  reservedUsd: usd(entry.reservedNanoUsd),
  settledUsd: usdOrNull(entry.settledNanoUsd),
  pricedAt: iso(entry.createdAtMs),
  price: entry.price === null ? null : { cached: null, cacheCreation: null, reasoning: null, ...entry.price },
  createdAt: iso(entry.createdAtMs),
  settledAt: isoOrNull(entry.settledAtMs)
})

const spendView = ({ costNanoUsd, requests, tokens }: Spend) => ({ requests, tokens, costUsd: usd(costNanoUsd) })

const budgetLimits = (payload: SetBudget): ReadonlyArray<GivenLimit> => [
  { unit: "usd", interval: "daily", limit: toNanoUsd(payload.dailyLimitUsd) },
  { unit: "usd", interval: "weekly", limit: toNanoUsd(payload.weeklyLimitUsd) },
  { unit: "usd", interval: "monthly", limit: toNanoUsd(payload.monthlyLimitUsd) }
]

/** Makes what holds callers within the bounds of their role. */
const makeLimitBounds = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const people = yield* People
  const callerBounds = yield* makeCallerBounds
  const keyOf = Effect.fnUntraced(function* (id: string) {
    const key = keys.get(id)
    if (key !== null && reaches(yield* callerBounds, key)) return key
    return yield* new EntityNotFound({ entity: "API key", id, field: "apiKeyId" })
  })
  return {
    keyOf,
    /** Tells which keys the caller may see the limits of. */
    seenKeys: Effect.map(callerBounds, (bounds) => (id: string): boolean => {
      if (bounds === null) return true
      const key = keys.get(id)
      return key !== null && reaches(bounds, key)
    }),
    /** Fails where the caller may not give a key these limits. */
    limitable: Effect.fnUntraced(function* (id: string, limits: ReadonlyArray<GivenLimit>) {
      const bounds = yield* callerBounds
      if (bounds === null) return
      yield* refuseRole(limitProblem(people.directory(), bounds, yield* keyOf(id), limits))
    })
  }
})

export const layer = HttpApiBuilder.group(contractOf(LimitsGroup), "limits", (handlers) =>
  Effect.gen(function* () {
    const limits = yield* Limits

    const ownKey = yield* makeOwnKey
    const { keyOf, limitable, seenKeys } = yield* makeLimitBounds

    return handlers
      .handle("budget", ({ urlParams: { apiKeyId } }) =>
        Effect.gen(function* () {
          const sees = yield* seenKeys
          if (apiKeyId !== undefined) {
            return budgetStatusView(yield* answered(Effect.zipRight(keyOf(apiKeyId), limits.budget(apiKeyId))))
          }
          const all = yield* answered(limits.budgets)
          return yield* entriesAnswer(
            "budgets",
            all.filter((each) => sees(each.apiKeyId)),
            asJson(budgetStatusView)
          )
        })
      )
      .handle("setBudget", ({ payload, urlParams: { apiKeyId = payload.apiKeyId } }) =>
        apiKeyId === payload.apiKeyId
          ? answered(
              Effect.zipRight(
                limitable(apiKeyId, budgetLimits(payload)),
                Effect.map(limits.setBudget(payload), budgetStatusView)
              )
            )
          : answered(
              new InvalidInput({ problems: [{ field: "apiKeyId", message: "is another key than in the query" }] })
            )
      )
      .handle("removeBudget", ({ urlParams }) =>
        answered(Effect.zipRight(limitable(urlParams.apiKeyId, []), limits.removeBudget(urlParams.apiKeyId)))
      )
      .handle("tokenLimits", ({ urlParams: { apiKeyId } }) =>
        Effect.gen(function* () {
          const sees = yield* seenKeys
          if (apiKeyId !== undefined) yield* answered(keyOf(apiKeyId))
          const all = yield* answered(limits.tokenLimits(apiKeyId))
          const seen = all.filter(({ limit }) => sees(limit.apiKeyId))
          return yield* entriesAnswer("limits", seen, asJson(tokenLimitView), { apiKeyId: apiKeyId ?? null })
        })
      )
      .handle("setTokenLimit", ({ payload }) =>
        answered(
          Effect.zipRight(
            limitable(payload.apiKeyId, [
              { unit: "tokens", interval: payload.resetInterval ?? "monthly", limit: payload.tokenLimit }
            ]),
            Effect.map(limits.setTokenLimit(payload), (limit) => ({ limit: tokenLimitView(limit) }))
          )
        )
      )
      .handle("removeTokenLimit", ({ urlParams }) =>
        answered(
          Effect.gen(function* () {
            const found = (yield* limits.tokenLimits()).find(({ limit }) => limit.id === urlParams.id)
            if (found !== undefined) yield* limitable(found.limit.apiKeyId, [])
            yield* limits.removeTokenLimit(urlParams.id)
          })
        )
      )
      .handle("ledger", ({ urlParams: { cursor, limit = null, ...filter } }) =>
        answered(
          Effect.map(limits.ledger({ ...filter, limit, cursor: cursorOf(cursor) }), ({ entries, nextCursor }) => ({
            entries: entries.map(entryView),
            nextCursor: nextCursor === null ? null : cursorText(nextCursor)
          }))
        )
      )
      .handle("me", () =>
        Effect.flatMap(ownKey, ({ id, name }) =>
          answered(
            Effect.map(limits.ownUsage(id), (usage) => ({
              apiKeyId: id,
              name,
              budget: budgetStatusView(usage.budget),
              limits: usage.limits.map(tokenLimitView),
              owners: usage.owners.map(({ standings, ...owner }) => ({ ...owner, meters: standings.map(meterView) })),
              totals: { today: spendView(usage.today), month: spendView(usage.month) }
            }))
          )
        )
      )
  })
)
