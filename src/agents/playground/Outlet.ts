/**
 * Joins the events of several columns into one stream. Bounded: while its reader is slow, writers have to wait, and only the little that they
 * still have at hand comes above the limit.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Listeners } from "../../kernel/collections/Listeners.ts"

/** Characters that wait for the reader before writers are held up. */
export const highWaterChars = 262_144

export interface Outlet {
  /** Pushes text. Never throws. False: wait for `onDrain`. */
  readonly push: (text: string) => boolean
  /** The listener runs each time that more can be written again. The returned function takes it out. */
  readonly onDrain: (listener: () => void) => () => void
  /** Nothing comes any more. */
  readonly end: () => void
  /** Stream for one reader. */
  readonly stream: Stream.Stream<string>
}

export const makeOutlet = (limitChars = highWaterChars): Outlet => {
  const drained = new Listeners()
  let waiting: Array<string> = []
  let chars = 0
  let isFull = false
  let isOver = false
  let wake: (() => void) | null = null

  const tell = (): void => {
    const run = wake
    wake = null
    run?.()
  }

  const taken = (): Chunk.Chunk<string> => {
    const chunk = Chunk.unsafeFromArray(waiting)
    waiting = []
    chars = 0
    if (isFull) {
      isFull = false
      drained.tell()
    }
    return chunk
  }

  const take: Effect.Effect<Chunk.Chunk<string>, Option.Option<never>> = Effect.async((resume) => {
    const give = (): void => resume(waiting.length > 0 ? Effect.succeed(taken()) : Effect.fail(Option.none()))
    if (waiting.length > 0 || isOver) return give()
    wake = give
    return Effect.sync(() => {
      wake = null
    })
  })

  return {
    push: (text) => {
      if (isOver) return true
      waiting.push(text)
      chars += text.length
      if (chars >= limitChars) isFull = true
      tell()
      return !isFull
    },
    onDrain: (listener) => drained.add(listener),
    end: () => {
      isOver = true
      tell()
    },
    stream: Stream.repeatEffectChunkOption(take)
  }
}
