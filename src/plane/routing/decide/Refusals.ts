/** Targets that a caller may not have, because they stand for a quota group's members and the group does not let it in now. Pure. */
import { describe } from "../../../contract/domain/Errors.ts"
import type { Decided } from "./Decide.ts"
import type { Excluded } from "../candidate/Decision.ts"
import type { Refusal, Refusals } from "../quota/Refusal.ts"

const excludedBy = (refusal: Refusal, nowMs: number): Excluded => {
  const { message, retryAfterMs } = describe(refusal)
  return { rule: "allocation", untilMs: retryAfterMs === null ? null : nowMs + retryAfterMs, detail: message }
}

/**
 * The decision without the targets that are refused. When none is left it is a refusal of the request itself: the first of them; one
 * that passes by itself before one that does not.
 */
export const permitted = (
  decided: Decided,
  refusals: Refusals,
  nowMs: number
): { readonly decision: Decided; readonly refusal: Refusal | null } => {
  if (refusals.size === 0) return { decision: decided, refusal: null }
  const exclusions = new Map(decided.exclusions)
  for (const [target, refusal] of refusals) exclusions.set(target, excludedBy(refusal, nowMs))
  const order = decided.order.filter((target) => !refusals.has(target))
  const decision = { ...decided, order, exclusions }
  if (order.length > 0) return { decision, refusal: null }
  const all = [...refusals.values()]
  const refusal = all.find(({ _tag }) => _tag === "QuotaShareUsed") ?? all[0] ?? null
  if (refusal === null) return { decision, refusal }
  const { code, status } = describe(refusal)
  return { decision: { ...decision, reason: { _tag: "Refused", status, code } }, refusal }
}
