/**
 * The record of a decision (`GET /api/routing/decisions/{requestId}`), put together from what a request left of it. Features only,
 * never prompt text. Pure.
 */
import { reasonText } from "../candidate/Reason.ts"
import type { AttemptRecord, AttemptView, DecisionRecord, Exclusion } from "../../domain/Decision.ts"
import type { Resolution, Target } from "../resolve/ModelResolver.ts"
import { cameTrue, type Decision, type Excluded } from "../candidate/Decision.ts"

/** What of a decision its record shows. */
export type RecordedDecision = Pick<
  Decision,
  "strategy" | "seed" | "order" | "reason" | "weights" | "scores" | "exclusions" | "relaxedFilters"
>

export interface DecisionEntry {
  readonly requestId: string
  readonly requestedModel: string
  readonly resolution: Resolution
  readonly decision: RecordedDecision
  readonly attempts: ReadonlyArray<AttemptRecord>
  /** Targets that the loop left out, beyond those the decision left out. */
  readonly exclusions: ReadonlyMap<Target, Excluded>
  /** The target that answered; null when none did. */
  readonly chosen: Target | null
}

const nameOf = ({ account, model }: Target): string => `${account.spec.id}/${model}`

/** `provider/model`, with the connection id where a provider has several in the order. */
const orderNames = (order: ReadonlyArray<Target>): ReadonlyArray<string> => {
  const count = new Map<string, number>()
  for (const target of order) count.set(nameOf(target), (count.get(nameOf(target)) ?? 0) + 1)
  return order.map((target) => {
    const name = nameOf(target)
    return count.get(name) === 1 ? name : `${name}@${target.account.connection.id}`
  })
}

const attemptView = ({ startedMs, ...attempt }: AttemptRecord): AttemptView => ({
  ...attempt,
  startedAt: new Date(startedMs).toISOString()
})

const exclusionOf = (reason: Excluded | undefined): Exclusion | null =>
  reason === undefined
    ? null
    : {
        rule: reason.rule,
        until: reason.untilMs === null ? null : new Date(reason.untilMs).toISOString(),
        detail: reason.detail
      }

/** Left out in its turn, and never asked before or after that. */
export const isPassedOver =
  ({ attempts, exclusions }: Pick<DecisionEntry, "attempts"> & { readonly exclusions: ReadonlyMap<Target, unknown> }) =>
  (target: Target): boolean =>
    exclusions.has(target) &&
    !attempts.some(({ connectionId, model }) => connectionId === target.account.connection.id && model === target.model)

/** As many as may be shown: those that were asked or are first in the order before the others, as the resolution lists them. */
const shownOf = (
  { attempts, chosen, resolution: { targets } }: DecisionEntry,
  order: ReadonlyArray<Target>,
  maxCandidates: number
): ReadonlyArray<Target> => {
  if (targets.length <= maxCandidates) return targets
  const wasAsked = (target: Target): boolean =>
    target === chosen ||
    attempts.some(({ connectionId, model }) => connectionId === target.account.connection.id && model === target.model)
  const shown = new Set([...targets.filter(wasAsked), ...order, ...targets])
  const first = new Set([...shown].slice(0, maxCandidates))
  return targets.filter((target) => first.has(target))
}

/** `maxCandidates`: of more targets only the most telling are shown, and the record says how many are left out. */
export const recordOf = (entry: DecisionEntry, maxCandidates = Number.POSITIVE_INFINITY): DecisionRecord => {
  const { order, reason } = cameTrue(entry.decision, isPassedOver(entry))
  const shown = shownOf(entry, order, maxCandidates)
  const leftOut = entry.resolution.targets.length - shown.length
  return {
    requestId: entry.requestId,
    requestedModel: entry.requestedModel,
    ...(entry.resolution.fallbackModel === undefined ? {} : { fallbackModel: entry.resolution.fallbackModel }),
    combo: entry.resolution.combo?.name ?? null,
    strategy: entry.decision.strategy,
    seed: entry.decision.seed,
    reason: reasonText(reason),
    weights: entry.decision.weights,
    candidates: shown.map((target) => ({
      provider: target.account.spec.id,
      connectionId: target.account.connection.id,
      model: target.model,
      score: entry.decision.scores.get(target)?.score ?? null,
      factors: entry.decision.scores.get(target)?.factors ?? null,
      excluded: exclusionOf(entry.exclusions.get(target) ?? entry.decision.exclusions.get(target))
    })),
    ...(leftOut === 0 ? {} : { candidatesLeftOut: leftOut }),
    order: orderNames(order),
    attempts: entry.attempts.map(attemptView),
    chosen: entry.chosen === null ? null : nameOf(entry.chosen),
    relaxedFilters: entry.decision.relaxedFilters
  }
}

/** Scores, exclusions and attempts: what its record takes in memory. */
export const linesOf = ({ attempts, decision, exclusions }: DecisionEntry): number =>
  decision.scores.size + decision.exclusions.size + exclusions.size + attempts.length
