/** Reason for which a caller may not have a target of a quota group now. */
import type { QuotaNotAllocated, QuotaShareUsed } from "../../../contract/domain/Errors.ts"
import type { Target } from "../resolve/ModelTargets.ts"

export type Refusal = QuotaNotAllocated | QuotaShareUsed

/** Refusals by target; those that may be asked are absent. */
export type Refusals = ReadonlyMap<Target, Refusal>
