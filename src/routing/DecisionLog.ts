/**
 * The last decisions, so that every choice can be asked for afterwards (`GET /api/routing/decisions/{requestId}`).
 * Features only, never prompt text. What a request leaves here is a few references, and what was worked out for each of its
 * candidates; the record is put together when somebody asks. Beyond the limits the oldest goes.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Attempt, AttemptView, DecisionRecord, Exclusion } from "../domain/Decision.ts"
import type { Resolution, Target } from "./ModelResolver.ts"
import { cameTrue, type Decision, type Excluded } from "./engine/Decision.ts"

export const capacity = 2_000
/** Scores, exclusions and attempts of all records together: a decision over a thousand candidates takes the room of many small ones. */
export const mostLines = 100_000

export interface DecisionEntry {
  readonly requestId: string
  readonly requestedModel: string
  readonly resolution: Resolution
  readonly decision: Decision
  readonly attempts: ReadonlyArray<Attempt>
  /** Targets that the loop left out, beyond those the decision left out. */
  readonly exclusions: ReadonlyMap<Target, Excluded>
  /** The target that answered; null when none did. */
  readonly chosen: Target | null
}

export class DecisionLog extends Context.Tag("gateway/routing/DecisionLog")<
  DecisionLog,
  {
    /** Hot. */
    readonly record: (entry: DecisionEntry) => void
    readonly get: (requestId: string) => DecisionRecord | null
  }
>() {}

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

const attemptView = ({ startedMs, ...attempt }: Attempt): AttemptView => ({
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

export const recordOf = (entry: DecisionEntry): DecisionRecord => {
  const { order, reason } = cameTrue(entry.decision, isPassedOver(entry))
  return {
    requestId: entry.requestId,
    requestedModel: entry.requestedModel,
    ...(entry.resolution.fallbackModel === undefined ? {} : { fallbackModel: entry.resolution.fallbackModel }),
    combo: entry.resolution.combo?.name ?? null,
    strategy: entry.decision.strategy,
    seed: entry.decision.seed,
    reason,
    weights: entry.decision.weights,
    candidates: entry.resolution.targets.map((target) => ({
      provider: target.account.spec.id,
      connectionId: target.account.connection.id,
      model: target.model,
      score: entry.decision.scores.get(target)?.score ?? null,
      factors: entry.decision.scores.get(target)?.factors ?? null,
      excluded: exclusionOf(entry.exclusions.get(target) ?? entry.decision.exclusions.get(target))
    })),
    order: orderNames(order),
    attempts: entry.attempts.map(attemptView),
    chosen: entry.chosen === null ? null : nameOf(entry.chosen),
    relaxedFilters: entry.decision.relaxedFilters
  }
}

const linesOf = ({ attempts, decision, exclusions }: DecisionEntry): number =>
  decision.scores.size + decision.exclusions.size + exclusions.size + attempts.length

export const make = () => {
  const ring: Array<DecisionEntry | null> = []
  /** Lines each was counted with. */
  const counted = new Int32Array(capacity)
  let next = 0
  let oldest = 0
  let count = 0
  let lines = 0

  const dropOldest = (): void => {
    lines -= counted[oldest] ?? 0
    ring[oldest] = null
    oldest = (oldest + 1) % capacity
    count -= 1
  }

  const isTooLong = (): boolean => lines > mostLines && count > 1
  const dropWhileTooLong = (): void => {
    while (isTooLong()) dropOldest()
  }

  return DecisionLog.of({
    record: (entry) => {
      if (count === capacity) dropOldest()
      const own = linesOf(entry)
      ring[next] = entry
      counted[next] = own
      next = (next + 1) % capacity
      count += 1
      lines += own
      dropWhileTooLong()
    },
    get: (requestId) => {
      const entry = ring.find((each) => each?.requestId === requestId)
      return entry === undefined || entry === null ? null : recordOf(entry)
    }
  })
}

export const layer: Layer.Layer<DecisionLog> = Layer.sync(DecisionLog, make)
