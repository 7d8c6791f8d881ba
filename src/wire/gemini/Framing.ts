/** How the chunks of a stream stand one after the other: as events (`alt=sse`), or as the elements of one array. */
import { encodeSse } from "../sse/SseScanner.ts"

export interface Framing {
  readonly chunk: (json: string) => string
  /** Says nothing, and keeps the stream alive. */
  readonly ping: string
  /** After the last chunk of a whole answer. */
  readonly end: string
  /** The answer begins with a chunk of its own, before it has said anything. */
  readonly opens: boolean
}

export const eventFraming = (): Framing => ({
  chunk: (json) => encodeSse(null, json),
  // Google's own SDK of many agents (before 2.x) stumbles over a comment; it skips white space.
  ping: "\n",
  end: "",
  opens: false
})

const arrayEnd = "\n]"
const separator = ",\n"

/** An array is opened by its first chunk at once, so that whatever follows (an error too) is a further element. */
export const arrayFraming = (): Framing => {
  let first = true
  return {
    chunk: (json) => {
      const begin = first ? "[" : separator
      first = false
      return begin + json
    },
    ping: "\n",
    end: arrayEnd,
    opens: true
  }
}

/** The last element of an array that could not be finished. */
export const lastElement = (json: string): string => separator + json + arrayEnd
