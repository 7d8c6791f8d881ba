/** Sends what a button of the attention stands for, and what takes it back. */
import { gatewayUrl } from "../../api/client.ts"
import {
  limitsBudget,
  limitsRemoveBudget,
  limitsSetBudget,
  limitsSetTokenLimit,
  limitsTokenLimits
} from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"
import { send } from "../../forms/send.ts"
import { type Action, budgetOf, inverseOf, limitOf, refusalIn } from "./actions.ts"

export type Budget = NonNullable<Extract<AnswerOf<typeof limitsBudget>, { readonly budget: unknown }>["budget"]>

const sent = ({ body, method, path }: Action) => send(method, new URL(path.slice(1), gatewayUrl).href, body)

/** The budget of a key; null: it has none. */
export const readBudget = async (apiKeyId: string): Promise<Budget | null> => {
  const answer = await limitsBudget({ query: { apiKeyId } })
  return "budget" in answer ? answer.budget : null
}

/** Sets all of a budget. */
export const putBudget = async ({ createdAt: _created, updatedAt: _updated, ...budget }: Budget): Promise<void> => {
  await limitsSetBudget({ body: budget })
}

/** Reads the former state, as a way back to it; null: it cannot be taken back, or there is nothing to. */
const wayBack = async (action: Action): Promise<(() => Promise<unknown>) | null> => {
  const inverse = inverseOf(action)
  if (inverse !== null) return () => sent(inverse)
  const keyId = budgetOf(action)
  if (keyId !== null) {
    const before = await readBudget(keyId)
    return before === null ? () => limitsRemoveBudget({ query: { apiKeyId: keyId } }) : () => putBudget(before)
  }
  const limitId = limitOf(action)
  if (limitId === null) return null
  const { limits } = await limitsTokenLimits()
  const limit = limits.find(({ id }) => id === limitId)
  if (limit === undefined) return null
  const { apiKeyId, enabled, resetInterval, resetTime, scopeType, scopeValue, tokenLimit, tz } = limit
  const body = { apiKeyId, enabled, resetInterval, resetTime, scopeType, tokenLimit, tz }
  return () => limitsSetTokenLimit({ body: scopeValue === null ? body : { ...body, scopeValue } })
}

export interface Ran {
  /** Reason for which it did not work, in the answer's words; null: it worked. */
  readonly refusal: string | null
  readonly undo: (() => Promise<unknown>) | null
}

export const runAction = async (action: Action): Promise<Ran> => {
  const undo = await wayBack(action)
  const { text } = await sent(action)
  const refusal = refusalIn(text)
  return { refusal, undo: refusal === null ? undo : null }
}
