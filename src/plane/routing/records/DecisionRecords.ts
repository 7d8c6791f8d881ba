/**
 * The record of a decision (`GET /api/routing/decisions/{requestId}`), put together from what a request left of it. Features only,
 * never prompt text. Pure.
 */
import type { Mutable } from "effect/Types"
import { type Reason, reasonText } from "../candidate/Reason.ts"
import type {
  AttemptRecord,
  AttemptView,
  DecisionRecord,
  Exclusion,
  PluginCall
} from "../../../subjects/routing/entity.ts"
import type { Resolution, Target } from "../resolve/ModelResolver.ts"
import { cameTrue, type Decision, type Excluded } from "../candidate/Decision.ts"
import type { Score } from "../candidate/Strategy.ts"

/** Parts of a decision that its record shows. */
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
  /** Live. Absent: no plugin was called. */
  readonly plugins?: ReadonlyArray<PluginCall>
  /** Metadata that plugins have added; absent: none. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** A target's name is made once: putting text together, and reading it for a map, costs more than the rest of a place in an order. */
const names = new WeakMap<Target, string>()

const nameOf = (target: Target): string => {
  const known = names.get(target)
  if (known !== undefined) return known
  const name = `${target.account.spec.id}/${target.model}`
  names.set(target, name)
  return name
}

/** Finds the names that are not enough to distinguish a target of the order from another. */
const ambiguous = (order: ReadonlyArray<Target>): ReadonlySet<string> => {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const target of order) {
    const name = nameOf(target)
    if (seen.has(name)) twice.add(name)
    else seen.add(name)
  }
  return twice
}

/** `provider/model`, with the connection id where a provider has several in the order. */
const orderNames = (order: ReadonlyArray<Target>, most = order.length): ReadonlyArray<string> => {
  const [only] = order
  if (only !== undefined && order.length === 1) return [nameOf(only)]
  const twice = ambiguous(order)
  return order.slice(0, most).map((target) => {
    const name = nameOf(target)
    return twice.has(name) ? `${name}@${target.account.connection.id}` : name
  })
}

/** Hot: member by member, as copies of the rest of an object are made without a hidden class of their own. */
const attemptView = (attempt: AttemptRecord): AttemptView => ({
  provider: attempt.provider,
  connectionId: attempt.connectionId,
  model: attempt.model,
  status: attempt.status,
  outcome: attempt.outcome,
  reason: attempt.reason,
  latencyMs: attempt.latencyMs,
  startedAt: new Date(attempt.startedMs).toISOString()
})

const exclusionOf = (reason: Excluded | undefined): Exclusion | null =>
  reason === undefined
    ? null
    : {
        rule: reason.rule,
        until: reason.untilMs === null ? null : new Date(reason.untilMs).toISOString(),
        detail: reason.detail
      }

/** Checks whether a target was left out in its turn, and never asked before or after that. */
export const isPassedOver =
  ({ attempts, exclusions }: Pick<DecisionEntry, "attempts"> & { readonly exclusions: ReadonlyMap<Target, unknown> }) =>
  (target: Target): boolean =>
    exclusions.has(target) &&
    !attempts.some(({ connectionId, model }) => connectionId === target.account.connection.id && model === target.model)

/**
 * Selects as many targets as may be shown: those that were asked or are first in the order before the others, as the
 * resolution lists them.
 */
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

/** Parts of a record besides its candidates and its order. */
type Head = Omit<DecisionRecord, "candidates" | "order">

const headOf = (entry: DecisionEntry, reason: Reason, leftOut: number): Head => {
  const head: Mutable<Head> = {
    requestId: entry.requestId,
    requestedModel: entry.requestedModel,
    combo: entry.resolution.combo?.name ?? null,
    strategy: entry.decision.strategy,
    seed: entry.decision.seed,
    reason: reasonText(reason),
    weights: entry.decision.weights,
    attempts: entry.attempts.map(attemptView),
    chosen: entry.chosen === null ? null : nameOf(entry.chosen),
    relaxedFilters: entry.decision.relaxedFilters
  }
  const { fallbackModel } = entry.resolution
  if (fallbackModel !== undefined) head.fallbackModel = fallbackModel
  if (leftOut > 0) head.candidatesLeftOut = leftOut
  if (entry.plugins !== undefined && entry.plugins.length > 0) head.plugins = entry.plugins.slice()
  if (entry.metadata !== undefined) head.metadata = entry.metadata
  return head
}

const excludedOf = ({ decision, exclusions }: DecisionEntry, target: Target): Excluded | undefined =>
  exclusions.get(target) ?? decision.exclusions.get(target)

/** A candidate with its score and what excludes it, without the factors of the score. */
export interface DecidedCandidate {
  readonly target: Target
  readonly score: number | null
  readonly excluded: Excluded | null
}

/** A decision before anything was asked, with at most `most` candidates and places of its order. */
export const decidedOf = (
  resolution: Resolution,
  decision: RecordedDecision,
  most: number
): { readonly candidates: ReadonlyArray<DecidedCandidate>; readonly order: ReadonlyArray<string> } => {
  const { exclusions, order, scores } = decision
  const { targets } = resolution
  let shown = targets
  if (targets.length > most) {
    const first = new Set(order.slice(0, most))
    for (const target of targets) {
      if (first.size >= most) break
      first.add(target)
    }
    shown = targets.filter((target) => first.has(target))
  }
  return {
    candidates: shown.map((target) => ({
      target,
      score: scores.get(target)?.score ?? null,
      excluded: exclusions.get(target) ?? null
    })),
    order: orderNames(order, most)
  }
}

/** `maxCandidates`: of more targets only the most telling are shown, and the record says how many are left out. */
export const recordOf = (entry: DecisionEntry, maxCandidates = Number.POSITIVE_INFINITY): DecisionRecord => {
  const { order, reason } = cameTrue(entry.decision, isPassedOver(entry))
  const shown = shownOf(entry, order, maxCandidates)
  const { attempts, chosen, relaxedFilters, ...head } = headOf(
    entry,
    reason,
    entry.resolution.targets.length - shown.length
  )
  return {
    ...head,
    candidates: shown.map((target) => {
      const score = entry.decision.scores.get(target)
      return {
        provider: target.account.spec.id,
        connectionId: target.account.connection.id,
        model: target.model,
        score: score?.score ?? null,
        factors: score?.factors ?? null,
        excluded: exclusionOf(excludedOf(entry, target))
      }
    }),
    order: orderNames(order),
    attempts,
    chosen,
    relaxedFilters
  }
}

/** The same as `recordOf`, with what it has of each target in lists. */
export interface ListedRecord {
  readonly head: Head
  readonly shown: ReadonlyArray<Target>
  /** Scores of the shown ones; undefined where one has none. */
  readonly scores: ReadonlyArray<Score | undefined>
  readonly excluded: ReadonlyArray<readonly [place: number, exclusion: Exclusion]>
  /** The begin of the order. */
  readonly order: ReadonlyArray<{ readonly target: Target; readonly withConnection: boolean }>
}

export const listedOf = (entry: DecisionEntry, maxCandidates: number): ListedRecord => {
  const { order, reason } = cameTrue(entry.decision, isPassedOver(entry))
  const shown = shownOf(entry, order, maxCandidates)
  const twice = ambiguous(order)
  const excluded: Array<readonly [number, Exclusion]> = []
  if (entry.exclusions.size > 0 || entry.decision.exclusions.size > 0) {
    for (const [place, target] of shown.entries()) {
      const exclusion = exclusionOf(excludedOf(entry, target))
      if (exclusion !== null) excluded.push([place, exclusion])
    }
  }
  return {
    head: headOf(entry, reason, entry.resolution.targets.length - shown.length),
    shown,
    scores: shown.map((target) => entry.decision.scores.get(target)),
    excluded,
    order: order.slice(0, maxCandidates).map((target) => ({ target, withConnection: twice.has(nameOf(target)) }))
  }
}

/** Scores, exclusions and attempts: what its record takes in memory. */
export const linesOf = ({ attempts, decision, exclusions }: DecisionEntry): number =>
  decision.scores.size + decision.exclusions.size + exclusions.size + attempts.length
