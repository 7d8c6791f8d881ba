/** Number of answers being streamed now, over HTTP or a socket. Counted where the pieces are written. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export class OpenStreams extends Context.Tag("gateway/entry/listening/OpenStreams")<
  OpenStreams,
  {
    /** Hot: a stream has begun; `closed` has to follow exactly once. */
    readonly opened: () => void
    readonly closed: () => void
    readonly count: () => number
  }
>() {}

export const make = () => {
  let count = 0
  return OpenStreams.of({
    opened: () => {
      count += 1
    },
    closed: () => {
      count -= 1
    },
    count: () => count
  })
}

export const layer: Layer.Layer<OpenStreams> = Layer.sync(OpenStreams, make)
