/** Usage rows between their requests and the table: in the file that is written to now, then in batches that are inserted together. */
import type * as Clock from "effect/Clock"
import { type RowWithFacts, sharedFacts } from "./UsageInsert.ts"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type * as Segments from "./JournalSegments.ts"
import { PerFacts } from "../../contract/domain/UsageFacts.ts"
import { UsageLines } from "./UsageLines.ts"
import { reasonOf } from "../Errors.ts"

/** Rows that wait for the table; beyond it the oldest is dropped. */
export const mostPending = 100_000
/**
 * Rows go into the table when so many wait or the oldest has waited so long. A transaction costs as much as a hundred rows; beyond 500 its
 * share in the cost of a row is small, and more rows at once would block the event loop for milliseconds.
 */
export const batchRows = 500

/** A file takes rows for this long: opening and removing one costs more than the rows of a batch. */
export const fileForMs = 1_000

/** Rows that are inserted together. */
export interface Batch {
  readonly rows: ReadonlyArray<RowWithFacts>
  readonly isOnFile: boolean
  /** Files that end with these rows: all that is in them is in this batch and those before. Empty while the file goes on. */
  readonly segments: Array<string>
}

/** A row that could not be put on file. */
interface Unwritten {
  readonly row: UsageRow
  readonly error: unknown
}

export interface RowsOptions {
  readonly segments: Segments.Segments
  readonly clock: Clock.Clock
  /** Called when the first row of a batch has come. */
  readonly onFirst: () => void
  /** Called when a batch is full. */
  readonly onFull: () => void
}

export class WaitingRows {
  readonly #options: RowsOptions
  readonly #segments: Segments.Segments
  readonly #shared = new PerFacts(sharedFacts)
  readonly #lines = new UsageLines()
  #open: Array<RowWithFacts> = []
  /** True when the open rows are in the file. */
  #isOnFile = true
  /** The file that is written to now holds rows. */
  #isFileUsed = false
  #fileSinceMs = Number.NEGATIVE_INFINITY
  readonly #closed: Array<Batch> = []
  /** The batch that is being inserted. */
  #onTheWay: Batch | null = null
  /** Files of which nothing waits for the table any more. */
  readonly inserted: Array<string> = []
  #pending = 0
  #notOnFile = 0
  #dropped = 0
  /** Problem of the latest write to the file, and of the latest batch for the table. */
  #fileProblem: string | null = null
  #tableProblem: string | null = null
  #unwritten: Unwritten | null = null

  constructor(options: RowsOptions) {
    this.#options = options
    this.#segments = options.segments
  }

  get pending(): number {
    return this.#pending
  }

  get counts(): { readonly pending: number; readonly notOnFile: number; readonly dropped: number } {
    return { pending: this.#pending, notOnFile: this.#notOnFile, dropped: this.#dropped }
  }

  get problem(): string | null {
    return this.#tableProblem ?? this.#fileProblem
  }

  get hasBatches(): boolean {
    return this.#closed.length > 0
  }

  /** Hot: puts rows on file, and queues them for the table. */
  append(row: UsageRow, more: ReadonlyArray<UsageRow>): void {
    const wasEmpty = this.#open.length === 0
    let text = this.#take(row)
    for (const other of more) text += `\n${this.#take(other)}`
    this.#isFileUsed = true
    try {
      this.#segments.append(text)
      this.#fileProblem = null
    } catch (error) {
      this.#lines.begin()
      this.#fileProblem = `Usage rows cannot be put on file: ${reasonOf(error)}`
      this.#notOnFile += 1 + more.length
      this.#isOnFile = false
      this.#unwritten = { row, error }
    }
    this.#pending += 1 + more.length
    if (wasEmpty) this.#options.onFirst()
    if (this.#open.length < batchRows) return
    this.closeBatch(false)
    this.#options.onFull()
    if (this.#pending > mostPending) this.#dropOldest()
  }

  closeBatch(endsFile: boolean): void {
    if (this.#open.length === 0) return
    const nowMs = this.#options.clock.unsafeCurrentTimeMillis()
    // A clock that was set back must not keep a file forever.
    const isDue = endsFile || Math.abs(nowMs - this.#fileSinceMs) >= fileForMs
    const segment = isDue ? this.#closeFile(nowMs) : null
    this.#closed.push({ rows: this.#open, isOnFile: this.#isOnFile, segments: segment === null ? [] : [segment] })
    this.#open = []
    this.#isOnFile = true
  }

  /** Ends the file whose rows are all in the table while no new ones come. */
  closeIdleFile(): void {
    const path = this.#pending === 0 ? this.#closeFile(this.#options.clock.unsafeCurrentTimeMillis()) : null
    if (path !== null) this.inserted.push(path)
  }

  /** Takes the oldest batch, which is then on its way to the table; null: there is none. */
  takeBatch(): Batch | null {
    const batch = this.#closed.shift() ?? null
    if (batch !== null) this.#onTheWay = batch
    return batch
  }

  batchInserted(batch: Batch): void {
    this.#onTheWay = null
    this.#tableProblem = null
    // The rows are in the table, so an error of the file no longer matters.
    if (this.#closed.length === 0 && this.#open.length === 0) this.#fileProblem = null
    this.#pending -= batch.rows.length
    this.inserted.push(...batch.segments)
  }

  batchFailed(batch: Batch, message: string): void {
    this.#onTheWay = null
    this.#tableProblem = `Usage rows cannot be brought into the database: ${message}`
    this.#closed.unshift(batch)
  }

  /** Takes the latest row that could not be put on file, to warn of it once. */
  takeUnwritten(): Unwritten | null {
    const unwritten = this.#unwritten
    this.#unwritten = null
    return unwritten
  }

  /** Queues a row and gives its lines. */
  #take(row: UsageRow): string {
    const facts = this.#shared.of(row)
    this.#open.push({ row, facts })
    return this.#lines.of(row, facts.line)
  }

  /** The path of the file that is written to now, which gets no more rows; null when it holds none. */
  #closeFile(nowMs: number): string | null {
    if (!this.#isFileUsed) return null
    this.#isFileUsed = false
    this.#fileSinceMs = nowMs
    this.#lines.begin()
    return this.#segments.rotate()
  }

  #dropOldest(): void {
    const oldest = this.#closed.shift()
    if (oldest === undefined) return
    this.#dropped += oldest.rows.length
    this.#pending -= oldest.rows.length
    // Earlier rows of its files may be on their way to the table, or in it and not on disk yet.
    const waiting = this.#onTheWay?.segments ?? this.inserted
    waiting.push(...oldest.segments)
  }
}
