/**
 * The last decisions, so that every choice can be asked for afterwards (`GET /api/routing/decisions/{requestId}`).
 * Features only, never prompt text. What a request leaves here is a few references, and what was worked out for each of its
 * candidates; the record is put together when it is asked for. Beyond the limits the oldest goes from memory; the store may have it still.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DecisionRecord } from "../../../subjects/routing/entity.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { DecisionArchive } from "./DecisionArchive.ts"
import { type DecisionEntry, linesOf, recordOf } from "./DecisionRecords.ts"
import { OrdinaryDecisions } from "./OrdinaryDecisions.ts"

export { type DecisionEntry, isPassedOver, recordOf } from "./DecisionRecords.ts"

export const capacity = 2_000
/** Scores, exclusions and attempts of all records together: a decision over a thousand candidates takes the memory of many small ones. */
export const mostLines = 100_000

export class DecisionLog extends Context.Tag("gateway/plane/routing/records/DecisionLog")<
  DecisionLog,
  {
    /** Hot. */
    readonly record: (entry: DecisionEntry) => void
    /** Hot: returns the entry in memory, for a record that is put together later. */
    readonly entry: (requestId: string) => DecisionEntry | null
    /** Finds a record in memory. */
    readonly get: (requestId: string) => DecisionRecord | null
    /** Finds a record in memory, else in the store. */
    readonly find: (requestId: string) => Effect.Effect<DecisionRecord | null, StoreError>
    /** Returns the number, since the start, of decisions that the store should have and has not. */
    readonly notStored: () => number
  }
>() {}

type Archive = Pick<typeof DecisionArchive.Service, "offer" | "find" | "dropped">

export const inMemory: Archive = { offer: () => {}, find: () => Effect.succeed(null), dropped: () => 0 }

export const make = (archive: Archive) => {
  const ordinary = new OrdinaryDecisions(capacity)
  /** The others, at the same places. */
  const ring: Array<DecisionEntry | null> = Array.from({ length: capacity }, () => null)
  /** Lines each was counted with. */
  const counted = new Int32Array(capacity)
  let next = 0
  let oldest = 0
  let count = 0
  let lines = 0

  const dropOldest = (): void => {
    lines -= counted[oldest] ?? 0
    ring[oldest] = null
    ordinary.clear(oldest)
    oldest = (oldest + 1) % capacity
    count -= 1
  }

  const isTooLong = (): boolean => lines > mostLines && count > 1
  const dropWhileTooLong = (): void => {
    while (isTooLong()) dropOldest()
  }

  const entryOf = (requestId: string): DecisionEntry | null =>
    ordinary.find(requestId) ?? ring.find((each) => each?.requestId === requestId) ?? null

  const get = (requestId: string): DecisionRecord | null => {
    const entry = entryOf(requestId)
    return entry === null ? null : recordOf(entry)
  }

  return DecisionLog.of({
    record: (entry) => {
      if (count === capacity) dropOldest()
      const own = linesOf(entry)
      if (!ordinary.put(next, entry)) ring[next] = entry
      counted[next] = own
      next = (next + 1) % capacity
      count += 1
      lines += own
      dropWhileTooLong()
      archive.offer(entry)
    },
    entry: entryOf,
    get,
    find: (requestId) =>
      Effect.suspend(() => {
        const record = get(requestId)
        return record === null ? archive.find(requestId) : Effect.succeed(record)
      }),
    notStored: archive.dropped
  })
}

export const layer: Layer.Layer<DecisionLog, never, DecisionArchive> = Layer.effect(
  DecisionLog,
  Effect.map(DecisionArchive, make)
)
