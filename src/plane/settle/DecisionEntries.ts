/** Makes the entry of a request for the decision record. Pure. */
import type { Mutable } from "effect/Types"
import { noPolicy } from "../../subjects/combos/entity/ComboPolicy.ts"
import type { Outcome } from "../../contract/domain/Usage.ts"
import type { HookRun } from "../../agents/plugins/hooks/HookRun.ts"
import type { DecisionEntry } from "../routing/records/DecisionRecords.ts"
import type { Resolution } from "../routing/resolve/ModelResolver.ts"
import { decisionWith } from "../request/AddedSystem.ts"
import type { Exchange, Work } from "../request/Exchange.ts"
import type { UsageOutcome } from "../request/KeptAnswer.ts"
import type { Served } from "./Bill.ts"

const nothing = new Map<never, never>()

const unresolved: Resolution = {
  combo: null,
  strategy: "none",
  targets: [],
  weights: [],
  steps: [],
  auto: null,
  quotaGroup: null,
  policy: noPolicy
}

const addHooks = (entry: Mutable<DecisionEntry>, run: HookRun | undefined): void => {
  if (run === undefined || (run.calls.length === 0 && !run.mayObserve)) return
  entry.plugins = run.calls
  const metadata = run.keptMetadata()
  if (metadata !== null) entry.metadata = metadata
}

/** Hot. */
export const entryOf = (work: Work, served: Served | null, outcome: Outcome): DecisionEntry => {
  const { exchange } = work
  const entry: Mutable<DecisionEntry> = {
    requestId: exchange.requestId,
    requestedModel: work.envelope.model,
    resolution: work.resolution,
    decision: served === null ? work.decision : decisionWith(work, served.target),
    attempts: work.trail.attempts,
    exclusions: work.trail.exclusions,
    chosen: served === null || outcome === "failed" ? null : served.target
  }
  if (exchange.hooks !== undefined) addHooks(entry, exchange.hooks)
  return entry
}

/** Makes the entry of a request that came to no decision; null where plugins have not seen it. */
export const undecidedEntry = (
  { hooks, requestId }: Exchange,
  requestedModel: string,
  { error, status }: UsageOutcome
): DecisionEntry | null => {
  if (hooks === undefined || hooks.calls.length === 0) return null
  const entry: Mutable<DecisionEntry> = {
    requestId,
    requestedModel,
    resolution: unresolved,
    decision: {
      strategy: unresolved.strategy,
      seed: 0,
      order: [],
      reason:
        error === null ? { _tag: "Strategy", words: "answered by a plugin" } : { _tag: "Refused", status, code: error },
      weights: null,
      scores: nothing,
      exclusions: nothing,
      relaxedFilters: []
    },
    attempts: [],
    exclusions: nothing,
    chosen: null
  }
  addHooks(entry, hooks)
  return entry
}
