/** The two framings of a stream: events (`alt=sse`), or the elements of one array. */
import { encodeSse } from "../../sse/SseScanner.ts"

export interface Framing {
  readonly chunk: (json: string) => string
  /** A keep-alive. */
  readonly ping: string
  /** Bytes written after the last chunk of a complete answer. */
  readonly end: string
  /** The answer begins with an empty chunk. */
  readonly opens: boolean
}

export const eventFraming = (): Framing => ({
  chunk: (json) => encodeSse(null, json),
  // Google's SDK before 2.x, which many agents use, fails on a comment; it skips white space.
  ping: "\n",
  end: "",
  opens: false
})

export const arrayEnd = "\n]"
const separator = ",\n"

/** An array is opened with a first chunk at once, so that whatever follows (an error too) is a further element. */
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
