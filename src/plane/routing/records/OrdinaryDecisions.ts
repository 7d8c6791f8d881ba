/**
 * Decisions of ordinary requests, in columns: the listed order, one call, nothing left out. As objects, thousands of them would be copied
 * by the garbage collector again and again while they wait to be asked for; the record of any other request is kept whole.
 */
import { firstInOrder, type Reason } from "../candidate/Reason.ts"
import type { AttemptOutcome } from "../../../subjects/routing/entity.ts"
import type { Resolution, Target } from "../resolve/ModelResolver.ts"
import type { DecisionEntry } from "./DecisionRecords.ts"

const outcomes: ReadonlyArray<AttemptOutcome> = ["completed", "failed", "aborted"]
const nothing = new Map<never, never>()

/** Place of the called target in the order; -1 when it is not there. */
const placeOf = (targets: ReadonlyArray<Target>, connectionId: string, model: string): number =>
  targets.findIndex((target) => target.account.connection.id === connectionId && target.model === model)

/** Number of slots that are looked at before all others. */
const recentSlots = 64

export class OrdinaryDecisions {
  readonly #requestIds: Array<string | null>
  readonly #requestedModels: Array<string>
  #latest = 0
  readonly #resolutions: Array<Resolution | null>
  readonly #reasons: Array<Reason>
  readonly #callReasons: Array<string>
  readonly #seeds: Float64Array
  readonly #startedMs: Float64Array
  readonly #latencyMs: Float64Array
  /** -1: none arrived. */
  readonly #statuses: Int32Array
  readonly #outcomes: Uint8Array
  readonly #called: Int32Array
  /** -1: none. */
  readonly #chosen: Int32Array

  constructor(capacity: number) {
    const empty = <A>(value: A): Array<A> => Array.from({ length: capacity }, () => value)
    this.#requestIds = empty<string | null>(null)
    this.#requestedModels = empty("")
    this.#resolutions = empty<Resolution | null>(null)
    this.#reasons = empty(firstInOrder)
    this.#callReasons = empty("")
    this.#seeds = new Float64Array(capacity)
    this.#startedMs = new Float64Array(capacity)
    this.#latencyMs = new Float64Array(capacity)
    this.#statuses = new Int32Array(capacity)
    this.#outcomes = new Uint8Array(capacity)
    this.#called = new Int32Array(capacity)
    this.#chosen = new Int32Array(capacity)
  }

  /** Hot: false when the decision is not an ordinary one, and has to be kept otherwise. */
  put(
    slot: number,
    { attempts, chosen, decision, exclusions, plugins, requestId, requestedModel, resolution }: DecisionEntry
  ): boolean {
    if (plugins !== undefined) return false
    const [call] = attempts
    if (call === undefined || attempts.length > 1 || exclusions.size > 0) return false
    const { order, relaxedFilters, scores, strategy, weights } = decision
    if (order !== resolution.targets || scores.size > 0 || weights !== null || decision.exclusions.size > 0)
      return false
    if (relaxedFilters.length > 0 || strategy !== resolution.strategy) return false
    const called = placeOf(order, call.connectionId, call.model)
    if (called < 0 || order[called]?.account.spec.id !== call.provider) return false
    const chosenAt = chosen === null ? -1 : placeOf(order, chosen.account.connection.id, chosen.model)
    if (chosen !== null && chosenAt < 0) return false
    this.#requestIds[slot] = requestId
    this.#requestedModels[slot] = requestedModel
    this.#latest = slot
    this.#resolutions[slot] = resolution
    this.#reasons[slot] = decision.reason
    this.#callReasons[slot] = call.reason
    this.#seeds[slot] = decision.seed
    this.#startedMs[slot] = call.startedMs
    this.#latencyMs[slot] = call.latencyMs
    this.#statuses[slot] = call.status ?? -1
    this.#outcomes[slot] = outcomes.indexOf(call.outcome)
    this.#called[slot] = called
    this.#chosen[slot] = chosenAt
    return true
  }

  clear(slot: number): void {
    this.#requestIds[slot] = null
    this.#resolutions[slot] = null
  }

  #slotOf(requestId: string): number {
    const size = this.#requestIds.length
    // Most are asked for right after they were put, and comparing thousands of ids costs more than the request.
    for (let back = 0; back < recentSlots && back < size; back += 1) {
      const slot = (this.#latest - back + size) % size
      if (this.#requestIds[slot] === requestId) return slot
    }
    return this.#requestIds.indexOf(requestId)
  }

  find(requestId: string): DecisionEntry | null {
    const slot = this.#slotOf(requestId)
    const resolution = this.#resolutions[slot] ?? null
    const called = resolution?.targets[this.#called[slot] ?? -1]
    if (resolution === null || called === undefined) return null
    const status = this.#statuses[slot] ?? -1
    return {
      requestId,
      requestedModel: this.#requestedModels[slot] ?? "",
      resolution,
      decision: {
        strategy: resolution.strategy,
        seed: this.#seeds[slot] ?? 0,
        order: resolution.targets,
        reason: this.#reasons[slot] ?? firstInOrder,
        weights: null,
        scores: nothing,
        exclusions: nothing,
        relaxedFilters: []
      },
      attempts: [
        {
          provider: called.account.spec.id,
          connectionId: called.account.connection.id,
          model: called.model,
          status: status < 0 ? null : status,
          outcome: outcomes[this.#outcomes[slot] ?? 0] ?? "completed",
          reason: this.#callReasons[slot] ?? "",
          startedMs: this.#startedMs[slot] ?? 0,
          latencyMs: this.#latencyMs[slot] ?? 0
        }
      ],
      exclusions: nothing,
      chosen: resolution.targets[this.#chosen[slot] ?? -1] ?? null
    }
  }
}
