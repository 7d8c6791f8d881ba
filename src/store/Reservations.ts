/**
 * The file of reservations: what calls that run may cost, so that a crash does not lose it. A line is written before its call is made, with
 * one write for all requests of a turn of the event loop; it counts until the request's usage row is on file. Files are removed when nothing
 * in them counts any more.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { readFileSync } from "node:fs"
import { AppConfig } from "../platform/AppConfig.ts"
import { Timers } from "../platform/Timers.ts"
import { ensureFolder, onDisk, reservationFolder } from "./DataFolder.ts"
import { DataLock } from "./DataLock.ts"
import { reasonOf, type StoreFailure } from "./Errors.ts"
import * as Segments from "./JournalSegments.ts"
import { type OpenRequest, readReservations } from "./ReservationLines.ts"
import { asSentence } from "../kernel/Sentence.ts"

/** A request that has a line in the file. */
export class Filed {
  readonly requestId: string
  /** Where its latest line is; null: nothing of it counts. */
  part: Part | null = null

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

export class Reservations extends Context.Tag("gateway/store/Reservations")<
  Reservations,
  ReservationFile & {
    /** What an ended process left open; `forget` removes its files once that is booked. */
    readonly leftovers: { readonly open: ReadonlyArray<OpenRequest>; readonly forget: Effect.Effect<void> }
  }
>() {}

/** Bytes of a file, after which another one is begun. */
const fileBytes = 262_144

/** A file and how many requests have their latest line in it. */
interface Part {
  open: number
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

export const makeFile = ({ defect, lost, segments, soon }: ReservationOptions): ReservationFile => {
  let current: Part = { open: 0, bytes: 0, path: null }
  let lines = ""
  /** Lines of requests that hold nothing any more. */
  let closing = ""
  let waiting: Array<() => void> = []
  let ended: Array<Filed> = []

  const letGo = (part: Part): void => {
    part.open -= 1
    if (part.open > 0) return
    if (part.path !== null) segments.remove(part.path)
    // A file without anything that counts goes before it has become large.
    else if (part.bytes >= fileBytes) endPart()
  }

  const endPart = (): void => {
    const path = segments.rotate()
    if (path === null) return
    current.path = path
    if (current.open === 0) segments.remove(path)
    current = { open: 0, bytes: 0, path: null }
  }

  const endOfTurn = (): void => {
    const text = closing + lines
    closing = ""
    const calls = waiting
    lines = ""
    waiting = []
    try {
      segments.append(text)
    } catch (cause) {
      lost(cause)
    }
    if (current.bytes >= fileBytes) endPart()
    for (const call of calls) {
      try {
        call()
      } catch (cause) {
        defect(cause)
      }
    }
  }

  const closeEnded = (): void => {
    const requests = ended
    ended = []
    for (const request of requests) {
      const { part } = request
      if (part === null) continue
      request.part = null
      // Goes with the next line that has to be written: the request's usage row says the same.
      if (part.path === null) closing += `[${JSON.stringify(request.requestId)}]\n`
      letGo(part)
    }
  }

  return {
    write: (request, line, then) => {
      const before = request.part
      if (before !== current) {
        request.part = current
        current.open += 1
        if (before !== null) letGo(before)
      }
      current.bytes += line.length + 1
      lines = lines === "" ? line : `${lines}\n${line}`
      if (waiting.push(then) === 1) soon(endOfTurn)
    },
    close: (request) => {
      if (ended.push(request) === 1) soon(closeEnded)
    },
    finish: endPart
  }
}

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
    const texts = yield* Effect.forEach(left, (path) => onDisk(path, () => readFileSync(path, "utf8")))
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const segments = Segments.inFolder(folder, Math.max(0, ...left.map(Segments.numberOf)))
    const file = makeFile({
      segments,
      soon,
      lost: (cause) =>
        void runFork(Effect.logError(`Reservations cannot be put on file: ${asSentence(reasonOf(cause))}`)),
      defect: (cause) => void runFork(Effect.logError("A call could not be made", cause))
    })
    yield* Effect.addFinalizer(() => Effect.sync(file.finish))
    return Reservations.of({
      ...file,
      leftovers: {
        open: readReservations(texts),
        forget: Effect.sync(() => {
          for (const path of left) segments.remove(path)
        })
      }
    })
  })
)

/** Without files. For tests. */
export const layerMemory: Layer.Layer<Reservations, never, Timers> = Layer.effect(
  Reservations,
  Effect.map(Timers, ({ soon }) =>
    Reservations.of({
      ...makeFile({ segments: Segments.none, soon, lost: () => {}, defect: () => {} }),
      leftovers: { open: [], forget: Effect.void }
    })
  )
)
