/**
 * The file of reservations: what calls that run may cost, so that a crash does not lose it. A line is written before its call is made, with
 * one write for all requests of a turn of the event loop; it counts until the request's usage row is on file, and a line says so then: what is open
 * is known from this file alone, whatever becomes of the row. Files are removed when nothing in them counts any more.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Timers } from "../../platform/Timers.ts"
import { ensureFolder, leftByWorkers, onDisk, reservationFolder, workerFolder } from "../DataFolder.ts"
import { DataLock } from "../DataLock.ts"
import { reasonOf, type StoreFailure } from "../Errors.ts"
import * as Segments from "./JournalSegments.ts"
import { type OpenRequest, readReservations } from "./ReservationLines.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** A request that has a line in the file. */
export class Filed {
  readonly requestId: string
  /** Part with its latest line; null: nothing of it counts. */
  part: Part | null = null
  /** Text of its latest line. */
  line = ""

  constructor(requestId: string) {
    this.requestId = requestId
  }
}

export interface ReservationFile {
  /** Hot: puts the line of a request on file in place of its earlier one, then runs `then`. Never throws. */
  readonly write: (request: Filed, line: string, then: () => void) => void
  /** Hot: the request's usage row is on file by the end of this turn, or it holds no reservation any more. */
  readonly close: (request: Filed) => void
  /** Ends the file that is written to, and removes it when nothing in it counts. */
  readonly finish: () => void
}

export class Reservations extends Context.Tag("gateway/store/usage/Reservations")<
  Reservations,
  ReservationFile & {
    /** Reservations that an ended process left open; `forget` removes its files once they are booked. */
    readonly leftovers: { readonly open: ReadonlyArray<OpenRequest>; readonly forget: Effect.Effect<void> }
  }
>() {}

/** Bytes of a file, after which another one is begun. */
const fileBytes = 262_144
/** Files at once: what is still open in the oldest is then written anew, so that one long call does not keep them all. */
const mostFiles = 8

/** A file and the requests that have their latest line in it. */
interface Part {
  readonly open: Set<Filed>
  bytes: number
  /** Null while it is written to. */
  path: string | null
}

export interface ReservationOptions {
  readonly segments: Segments.Segments
  readonly soon: (run: () => void) => void
  /** Lines could not be written. The calls are made all the same. */
  readonly lost: (cause: unknown) => void
  /** Making a call has thrown. */
  readonly defect: (cause: unknown) => void
}

class SegmentReservations implements ReservationFile {
  readonly #options: ReservationOptions
  #current: Part = { open: new Set(), bytes: 0, path: null }
  /** The oldest first. */
  readonly #earlier: Array<Part> = []
  #lines: Array<string> = []
  /** Lines of requests that hold nothing any more. */
  #closing: Array<string> = []
  #waiting: Array<() => void> = []
  #ended: Array<Filed> = []

  constructor(options: ReservationOptions) {
    this.#options = options
  }

  readonly write: ReservationFile["write"] = (request, line, then) => {
    if (request.part !== this.#current) this.#enter(request)
    request.line = line
    this.#lines.push(line)
    if (this.#waiting.push(then) === 1) this.#options.soon(this.#endOfTurn)
  }

  readonly close: ReservationFile["close"] = (request) => {
    if (this.#ended.push(request) === 1) this.#options.soon(this.#closeEnded)
  }

  readonly finish: ReservationFile["finish"] = () => {
    this.#endPart()
    this.#removeEmpty()
  }

  /** False where the system refuses; what says that a request has ended is then tried again with the next lines. */
  #put(added: ReadonlyArray<string>): boolean {
    const text = [...this.#closing, ...added].join("\n")
    if (text === "") return true
    try {
      this.#options.segments.append(text)
      this.#current.bytes += text.length + 1
      this.#closing = []
      return true
    } catch (cause) {
      this.#options.lost(cause)
      return false
    }
  }

  #enter(request: Filed): void {
    request.part?.open.delete(request)
    request.part = this.#current
    this.#current.open.add(request)
  }

  /**
   * Removes empty files in their order: the end of a request is in the same file as its own line, or in a later one.
   */
  #removeEmpty(): void {
    for (let oldest = this.#earlier[0]; oldest !== undefined && oldest.open.size === 0; oldest = this.#earlier[0]) {
      this.#earlier.shift()
      if (oldest.path !== null) this.#options.segments.remove(oldest.path)
    }
  }

  #endPart(): void {
    const path = this.#options.segments.rotate()
    if (path === null) return
    this.#current.path = path
    this.#earlier.push(this.#current)
    this.#current = { open: new Set(), bytes: 0, path: null }
    const [oldest] = this.#earlier
    if (this.#earlier.length > mostFiles && oldest !== undefined) {
      const still = [...oldest.open]
      if (this.#put(still.map(({ line }) => line))) for (const request of still) this.#enter(request)
    }
    this.#removeEmpty()
  }

  readonly #endOfTurn = (): void => {
    const calls = this.#waiting
    const written = this.#lines
    this.#lines = []
    this.#waiting = []
    this.#put(written)
    this.#removeEmpty()
    if (this.#current.bytes >= fileBytes) this.#endPart()
    for (const call of calls) {
      try {
        call()
      } catch (cause) {
        this.#options.defect(cause)
      }
    }
  }

  #close(requests: ReadonlyArray<Filed>): void {
    for (const request of requests) {
      const { part } = request
      if (part === null) continue
      request.part = null
      part.open.delete(request)
      this.#closing.push(JSON.stringify([request.requestId]))
    }
    // With the lines of this turn, where there are some.
    if (this.#waiting.length > 0) return
    this.#put([])
    this.#removeEmpty()
    // A file without open reservations is removed before it has become large.
    if (this.#current.open.size === 0 && this.#current.bytes >= fileBytes) this.#endPart()
  }

  /**
   * Closes ended requests a step later: by then the rows of all of them are stored, in whatever order they were
   * reported.
   */
  readonly #closeEnded = (): void => {
    const requests = this.#ended
    this.#ended = []
    this.#options.soon(() => this.#close(requests))
  }
}

export const makeFile = (options: ReservationOptions): ReservationFile => new SegmentReservations(options)

/** Reservations that an ended process left open in a folder; none where there is no such folder. */
export const leftIn = (folder: string): Effect.Effect<ReadonlyArray<OpenRequest>, StoreFailure> =>
  onDisk(folder, () =>
    existsSync(folder) ? readReservations(Segments.leftovers(folder).map((path) => readFileSync(path, "utf8"))) : []
  )

/** A file whose parts are in a folder, as long as the scope is open. */
const makeIn = (folder: string, last: number, soon: (run: () => void) => void) =>
  Effect.gen(function* () {
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const file = makeFile({
      segments: Segments.inFolder(folder, last),
      soon,
      lost: (cause) =>
        void runFork(Effect.logError(`Reservations cannot be put on file: ${asSentence(reasonOf(cause))}`)),
      defect: (cause) => void runFork(Effect.logError("A call could not be made", cause))
    })
    yield* Effect.addFinalizer(() => Effect.sync(file.finish))
    return file
  })

/** Needs the lock of the data folder: reservations of a running gateway must not be taken for those of an ended one. */
export const layer: Layer.Layer<Reservations, StoreFailure, AppConfig | DataLock | Timers> = Layer.scoped(
  Reservations,
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    const lock = yield* DataLock
    const { soon } = yield* Timers
    const folder = reservationFolder(dataDir)
    yield* ensureFolder(folder)
    const left = yield* lock.exclusively(onDisk(folder, () => Segments.leftovers(folder)))
    const ofWorkers = yield* lock.exclusively(leftByWorkers(folder))
    const own = yield* Effect.forEach(left, (path) => onDisk(path, () => readFileSync(path, "utf8")))
    const others = yield* Effect.forEach(ofWorkers, leftIn)
    const file = yield* makeIn(folder, Math.max(0, ...left.map(Segments.numberOf)), soon)
    return Reservations.of({
      ...file,
      leftovers: {
        open: [...readReservations(own), ...others.flat()],
        forget: Effect.sync(() => {
          for (const path of [...left, ...ofWorkers]) rmSync(path, { recursive: true, force: true })
        })
      }
    })
  })
)

/** Layer of a worker: a folder that none had before. */
export const workerLayer = (name: string): Layer.Layer<Reservations, StoreFailure, AppConfig | Timers> =>
  Layer.scoped(
    Reservations,
    Effect.gen(function* () {
      const { dataDir } = yield* AppConfig
      const { soon } = yield* Timers
      const folder = workerFolder(reservationFolder(dataDir), name)
      yield* ensureFolder(folder)
      const file = yield* makeIn(folder, 0, soon)
      return Reservations.of({ ...file, leftovers: { open: [], forget: Effect.void } })
    })
  )

/** Layer without files. For tests. */
export const layerMemory: Layer.Layer<Reservations, never, Timers> = Layer.effect(
  Reservations,
  Effect.map(Timers, ({ soon }) =>
    Reservations.of({
      ...makeFile({ segments: Segments.none, soon, lost: () => {}, defect: () => {} }),
      leftovers: { open: [], forget: Effect.void }
    })
  )
)
