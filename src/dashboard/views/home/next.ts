/** The budgets and quotas that are used up first at their present pace. Pure. */
import type { AnswerOf } from "../../api/client.ts"
import type { limitsBudget, usageQuotas } from "../../api/calls.generated.ts"
import { reachedAtMs } from "../../ui/time/pace.ts"

type Budgets = Extract<AnswerOf<typeof limitsBudget>, { readonly budgets: unknown }>["budgets"]
type Quotas = AnswerOf<typeof usageQuotas>["windows"]

export interface Ending {
  readonly id: string
  readonly _tag: "Budget" | "Quota"
  readonly subjectId: string
  /** Its interval, or its window. */
  readonly window: string
  readonly unit: string
  readonly name: string
  /** From 0 to 1. */
  readonly used: number
  /** Epoch milliseconds. */
  readonly atMs: number
  /** ISO 8601; null: not known. */
  readonly renewedAt: string | null
}

const budgetEndings = (budgets: Budgets, nameOf: (keyId: string) => string, nowMs: number): ReadonlyArray<Ending> =>
  budgets.flatMap(({ apiKeyId, windows }) =>
    windows.flatMap((window): ReadonlyArray<Ending> => {
      const atMs = reachedAtMs(window, nowMs)
      if (atMs === null) return []
      const { interval, limitUsd, nextResetAt, spentUsd } = window
      const used = limitUsd === 0 ? 1 : Math.min(1, spentUsd / limitUsd)
      return [
        {
          id: `${apiKeyId} ${interval}`,
          _tag: "Budget",
          subjectId: apiKeyId,
          window: interval,
          unit: "usd",
          name: nameOf(apiKeyId),
          used,
          atMs,
          renewedAt: nextResetAt
        }
      ]
    })
  )

const quotaEndings = (quotas: Quotas): ReadonlyArray<Ending> =>
  quotas.flatMap((quota): ReadonlyArray<Ending> => {
    const { connectionId, connectionName, exhaustedAt, model, provider, resetAt, total, unit, used, window } = quota
    if (exhaustedAt === null) return []
    return [
      {
        id: `${connectionId} ${window} ${unit} ${model ?? ""}`,
        _tag: "Quota",
        subjectId: connectionId,
        window,
        unit,
        name: connectionName === "" || connectionName === provider ? provider : `${provider} / ${connectionName}`,
        used: total === null || total === 0 ? 1 : Math.min(1, used / total),
        atMs: Date.parse(exhaustedAt),
        renewedAt: resetAt
      }
    ]
  })

/** The first of them first. */
export const endingsOf = (
  budgets: Budgets,
  quotas: Quotas,
  nameOf: (keyId: string) => string,
  nowMs: number
): ReadonlyArray<Ending> =>
  [...budgetEndings(budgets, nameOf, nowMs), ...quotaEndings(quotas)].toSorted((one, other) => one.atMs - other.atMs)
