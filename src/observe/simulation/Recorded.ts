/**
 * Rows of the usage log that a replay decides anew, in columns: fifty thousand rows as objects would be moved by the collector again and again, and each
 * time all that the gateway does would wait.
 */
import type { UsageRow } from "../../contract/domain/Usage.ts"

/** Facts that many rows share; one object for all of them. */
type Kind = Pick<UsageRow, "provider" | "connectionId" | "model" | "sourceWire" | "streamed" | "priced">

/** The part of a row that a replay reads. */
export type RecordedRow = Kind & Pick<UsageRow, "timestampMs" | "latencyMs" | "tokens" | "costNanoUsd">

/** Numbers of a row: its time, its latency, five counts of tokens, its cost, and the place of its kind. */
const width = 9
const firstRows = 1_024

const isWhole = ({ outcome, provider }: UsageRow): boolean => outcome === "completed" && provider !== null

export class RecordedRows {
  #numbers = new Float64Array(firstRows * width)
  #length = 0
  #leftOut = 0
  readonly #kinds: Array<Kind> = []
  readonly #places = new Map<string, number>()

  /** Rows that can be decided anew. */
  get length(): number {
    return this.#length
  }

  /** Rows of requests that failed or were broken off. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** Adds rows, the newest first. */
  add(rows: ReadonlyArray<UsageRow>): void {
    for (const row of rows) {
      if (isWhole(row)) this.#put(row)
      else this.#leftOut += 1
    }
  }

  /** Returns the row of a place, of which the first is the oldest; undefined behind the last. */
  at(place: number): RecordedRow | undefined {
    const from = (this.#length - 1 - place) * width
    const [
      timestampMs = 0,
      latencyMs = 0,
      input = 0,
      out = 0,
      cacheRead = 0,
      cacheWrite = 0,
      reasoning = 0,
      cost = 0,
      at = 0
    ] = this.#numbers.subarray(from, from + width)
    const kind = place >= 0 && place < this.#length ? this.#kinds[at] : undefined
    if (kind === undefined) return undefined
    const { connectionId, model, priced, provider, sourceWire, streamed } = kind
    const tokens = { in: input, out, cacheRead, cacheWrite, reasoning }
    return {
      timestampMs,
      latencyMs,
      tokens,
      costNanoUsd: cost,
      connectionId,
      model,
      priced,
      provider,
      sourceWire,
      streamed
    }
  }

  #put(row: UsageRow): void {
    const at = this.#length * width
    if (at === this.#numbers.length) {
      const longer = new Float64Array(this.#numbers.length * 2)
      longer.set(this.#numbers)
      this.#numbers = longer
    }
    const { costNanoUsd, latencyMs, timestampMs, tokens } = row
    const { cacheRead, cacheWrite, out, reasoning } = tokens
    const numbers = [timestampMs, latencyMs, tokens.in, out, cacheRead, cacheWrite, reasoning, costNanoUsd]
    this.#numbers.set(numbers, at)
    this.#numbers[at + numbers.length] = this.#placeOf(row)
    this.#length += 1
  }

  #placeOf({ connectionId, model, priced, provider, sourceWire, streamed }: UsageRow): number {
    const name = JSON.stringify([connectionId, model, priced, provider, sourceWire, streamed])
    const known = this.#places.get(name)
    if (known !== undefined) return known
    const place = this.#kinds.length
    this.#kinds.push({ connectionId, model, priced, provider, sourceWire, streamed })
    this.#places.set(name, place)
    return place
  }
}
