/** Budgets of keys as they stand, and their changes with the way back. */
import type { ApiError } from "../../api/ApiError.ts"
import type { AnswerOf } from "../../api/client.ts"
import { limitsBudget, limitsRemoveBudget, limitsSetBudget } from "../../api/calls.generated.ts"
import { refresh } from "../../api/queries.ts"
import { money, visible } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/keys.ts"
import { raisedLimit } from "./money/period.ts"

type Answer = AnswerOf<typeof limitsBudget>
/** A budget as it stands. */
export type Standing = Extract<Answer, { readonly windows: unknown }>
export type Window = Standing["windows"][number]
export type Budget = NonNullable<Standing["budget"]>

/** The fields of a budget that can be set. */
export type BudgetFields = Omit<Budget, "apiKeyId" | "createdAt" | "updatedAt">

export const fieldsOf = ({ apiKeyId: _id, createdAt: _at, updatedAt: _to, ...fields }: Budget): BudgetFields => fields

/** The standing of a key among all. */
export const standingOf = (answer: Answer | undefined, keyId: string): Standing | undefined =>
  answer !== undefined && "budgets" in answer ? answer.budgets.find(({ apiKeyId }) => apiKeyId === keyId) : undefined

/** The window of a budget that is used the most. */
export const tightest = ({ windows }: Standing): Window | undefined =>
  windows.toSorted((one, other) => other.spentUsd / other.limitUsd - one.spentUsd / one.limitUsd)[0]

const limitNames = { daily: "dailyLimitUsd", weekly: "weeklyLimitUsd", monthly: "monthlyLimitUsd" } as const

/** Asks for one budget with its version. */
export const loadBudget = async (apiKeyId: string, signal?: AbortSignal) => {
  const query = { apiKeyId }
  const { answer, tag } = await limitsBudget.versioned(signal === undefined ? { query } : { query, signal })
  return { standing: answer as Standing, tag }
}

export const saveBudget = (apiKeyId: string, fields: BudgetFields, tag: string | undefined) =>
  limitsSetBudget.versioned({ query: { apiKeyId }, body: { apiKeyId, ...fields }, ifMatch: tag })

const told = (failure: unknown): void => toast("bad", visible((failure as ApiError).message))

interface Named {
  readonly id: string
  readonly name: string
}

const takeBack = async ({ id, name }: Named, fields: BudgetFields, tag: string | null): Promise<void> => {
  try {
    await saveBudget(id, fields, tag ?? undefined)
    toast("good", words.takenBack(visible(name)))
  } catch (failure) {
    told(failure)
  } finally {
    void refresh("budgets")
  }
}

/** Raises the limit that a window is of, and offers to take it back. */
export const raise = async (key: Named, interval: Window["interval"]): Promise<void> => {
  try {
    // As it is now: another may have changed it since it was shown.
    const { standing, tag } = await loadBudget(key.id)
    if (standing.budget === null) return
    const before = fieldsOf(standing.budget)
    const limitUsd = raisedLimit(before[limitNames[interval]])
    const saved = await saveBudget(key.id, { ...before, [limitNames[interval]]: limitUsd }, tag ?? undefined)
    toast("good", words.raised(visible(key.name), money(limitUsd), words.intervals[interval]), {
      label: words.undo,
      run: () => void takeBack(key, before, saved.tag)
    })
  } catch (failure) {
    told(failure)
  } finally {
    void refresh("budgets")
  }
}

/** Removes a budget, and offers to set it again. */
export const removeBudget = async (key: Named, before: BudgetFields): Promise<void> => {
  try {
    await limitsRemoveBudget({ query: { apiKeyId: key.id } })
    toast("good", words.page.budgetRemoved(visible(key.name)), {
      label: words.undo,
      run: () => void takeBack(key, before, null)
    })
  } catch (failure) {
    told(failure)
  } finally {
    void refresh("budgets")
  }
}
