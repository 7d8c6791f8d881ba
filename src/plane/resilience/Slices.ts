/**
 * Does long work on large bodies between the other work of the event loop: each turn of the loop works for a few milliseconds, on one body
 * after the other. A thread would not do it sooner: the engine copies what was parsed there in one piece, which takes as long as to parse it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Timers } from "../../platform/Timers.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { isRead, keepReading, slicedFromBytes } from "../../wire/json/LargeBodies.ts"
import { SlicedJson } from "../../wire/json/SlicedJson.ts"
import { SlicedText } from "../../wire/json/SlicedText.ts"

export class Slices extends Context.Tag("gateway/plane/resilience/Slices")<
  Slices,
  {
    /**
     * Hot: calls `next` when `readForeignBody` knows the value of the body: at once for a small one. `topMembers`: limit of its outermost
     * object, where it has one.
     */
    readonly whenRead: (body: Buffer, next: () => void, topMembers?: number) => void
    /** Calls `next` with the JSON of a large value. */
    readonly whenWritten: (value: JsonObject, next: (bytes: Buffer) => void) => void
    /** The same in pieces. */
    readonly written: (value: JsonObject) => Effect.Effect<Pick<SlicedText, "bytes" | "pieces">>
    /** Waits until the event loop has done what is ready now. */
    readonly turn: Effect.Effect<void>
    /** Works on all entries, however many; after some milliseconds others have their turn. What one entry takes is not cut. */
    readonly each: <A>(entries: Iterable<A>, work: (entry: A) => void) => Effect.Effect<void>
  }
>() {}

/** A slice of this size takes some 2 ms at worst. */
const sliceBytes = 131_072
/** Time after which a turn ends. */
const turnMs = 4

interface Job {
  /** Works on one slice; true when it was the last. */
  readonly slice: () => boolean
  readonly done: () => void
}

export const make: Effect.Effect<Context.Tag.Service<Slices>, never, Timers> = Effect.map(Timers, (timers) => {
  const jobs: Array<Job> = []

  /** Works on the body whose turn it is. */
  const work = (): void => {
    const job = jobs.shift()
    if (job === undefined) return
    const startedMs = timers.monotonicMs()
    let isDone = job.slice()
    while (!isDone && timers.monotonicMs() - startedMs < turnMs) isDone = job.slice()
    // What comes next takes its time, too.
    if (isDone) timers.soon(job.done)
    else jobs.push(job)
    if (jobs.length > 0) timers.soon(work)
  }

  const add = (job: Job): void => {
    jobs.push(job)
    if (jobs.length === 1) timers.soon(work)
  }

  const write = (value: JsonObject, next: (text: SlicedText) => void): void => {
    const text = new SlicedText(value, sliceBytes)
    add({ slice: () => text.next(), done: () => next(text) })
  }

  const turn = Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

  const each = Effect.fnUntraced(function* <A>(entries: Iterable<A>, doOne: (entry: A) => void) {
    let startedMs = timers.monotonicMs()
    for (const entry of entries) {
      if (timers.monotonicMs() - startedMs >= turnMs) {
        yield* turn
        startedMs = timers.monotonicMs()
      }
      doOne(entry)
    }
  })

  return Slices.of({
    whenRead: (body, next, topMembers = Number.POSITIVE_INFINITY) => {
      if (body.length < slicedFromBytes || isRead(body)) return next()
      const reading = new SlicedJson(body, { sliceBytes, topMembers })
      const slice = (): boolean => {
        const read = reading.next()
        if (read !== null) keepReading(body, topMembers, read.value, reading)
        return read !== null
      }
      add({ slice, done: next })
    },
    whenWritten: (value, next) => write(value, ({ bytes, pieces }) => next(Buffer.concat(pieces, bytes))),
    written: (value) => Effect.async((resume) => write(value, (text) => resume(Effect.succeed(text)))),
    turn,
    each
  })
})

export const layer: Layer.Layer<Slices, never, Timers> = Layer.effect(Slices, make)
