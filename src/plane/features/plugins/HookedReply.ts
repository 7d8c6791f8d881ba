/**
 * The reply to a client whose answer goes to plugins as well. It keeps a copy of what goes through it, and holds a stream back where a plugin is to
 * change it: then nothing goes out before `conclude`. What goes out in the place of the end is set by `conclude`, so that features
 * further in see the answer unchanged.
 */
import { describe, type PluginFailed } from "../../../domain/Errors.ts"
import { Listeners } from "../../../kernel/collections/Listeners.ts"
import { chunkOverheadBytes, type Room } from "../../reply/HeldChunks.ts"
import { withHeaders } from "../../reply/ReplyHeaders.ts"
import type { ClientReply, Exchange, Trailers } from "../../request/Exchange.ts"
import { answerError } from "../../request/OwnAnswer.ts"

/** Most bytes of one answer. A larger one is not seen by plugins, and goes on as it comes. */
export const maxAnswerBytes = 16 * 1_048_576
/** Most bytes of all answers that are kept or held at the same time. */
export const roomBytes = 128 * 1_048_576

export interface HookedReplyOptions {
  readonly isStream: boolean
  /** The stream is held back. */
  readonly holds: boolean
  /** True when an answer that is too large to be held must not go out. */
  readonly isGuarded: boolean
  readonly room: Room
  /** Makes the headers of what goes out. What it adds only once the head has gone out goes into the trailers. */
  readonly marked: (headers: Array<string>) => Array<string>
}

export interface HookedReply {
  readonly reply: ClientReply
  /** Returns the bytes so far; null: it is too large. */
  readonly soFar: () => Buffer | null
  /** Nothing of the answer has come. */
  readonly isUntouched: () => boolean
  /** True when it must not go out, because it is too large to be held. */
  readonly isRefused: () => boolean
  readonly hasHead: () => boolean
  /** Goes out in the place of all that was held, and of the end that is to come. */
  readonly conclude: (bytes: Buffer) => void
  /** Sends the held bytes, and the rest as it comes. */
  readonly release: () => void
  /** Nothing more of the answer goes out. */
  readonly withhold: () => void
  /** Ends the answer with an error. */
  readonly refuse: (error: PluginFailed) => void
}

interface Head {
  readonly status: number
  readonly headers: Array<string>
}

const nothing = (): void => {}

const bufferOf = (chunk: Buffer | string): Buffer => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)

export const hookedReply = (exchange: Exchange, options: HookedReplyOptions): HookedReply => {
  const { codec, reply: client, requestId } = exchange
  const { holds, isGuarded, isStream, marked, room } = options
  const leaving = new Listeners()
  let chunks: Array<Buffer> = []
  let bytes = 0
  let isTouched = false
  let isTooLarge = false
  let isHolding = holds
  let isError = false
  let isWithheld = false
  let isRefused = false
  let concluded: Buffer | null = null
  let head: Head | null = null
  let headSent = false
  /** Headers that `marked` has added to the head. */
  let marks = ""
  /** The client has taken what was held, once that was released. */
  let isFree = true

  const drop = (): void => {
    room.add(-bytes)
    bytes = 0
    chunks = []
  }

  const noLongerClose = client.onClose(drop)

  const over = (): void => {
    noLongerClose()
    drop()
  }

  const sendHead = (): void => {
    if (head === null || headSent) return
    headSent = true
    const { headers, status } = head
    marks = marked([]).join()
    client.head(status, status === 200 ? marked(headers) : headers)
  }

  const release = (): void => {
    if (!isHolding) return
    isHolding = false
    if (head === null) return
    sendHead()
    if (chunks.length > 0) isFree = client.write(Buffer.concat(chunks))
  }

  const tooLarge = (): void => {
    isTooLarge = true
    if (isHolding && isGuarded) {
      isRefused = true
      isWithheld = true
      drop()
      // The upstream need not go on.
      leaving.tell()
      return
    }
    release()
    drop()
  }

  const keep = (chunk: Buffer): void => {
    if (chunk.length === 0) return
    isTouched = true
    // A whole answer comes with its end; what comes before is no text.
    if (isTooLarge || !isStream || client.isClosed()) return
    chunks.push(chunk)
    bytes += chunk.length + chunkOverheadBytes
    room.add(chunk.length + chunkOverheadBytes)
    if (bytes > maxAnswerBytes || room.isFull) tooLarge()
  }

  const withLength = (headers: Array<string>, length: number): Array<string> =>
    headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === "content-length")
      ? withHeaders(headers, ["Content-Length", String(length)])
      : headers

  const endWith = (last: Buffer | string, trailers?: Trailers): void => {
    if (head !== null && concluded !== null && !isStream) {
      head = { ...head, headers: withLength(head.headers, concluded.length) }
    }
    sendHead()
    over()
    const late = marked([])
    client.end(last, late.join() === marks ? trailers : () => [...(trailers?.() ?? []), ...late])
  }

  const reply: ClientReply = {
    head: (status, headers) => {
      if (isWithheld || head !== null) return
      head = { status, headers }
      isError = status !== 200
      if (isError) isHolding = false
      if (isHolding) return
      // The head of a changed answer is sent with its end.
      if (isError || concluded === null) sendHead()
    },
    write: (chunk) => {
      if (isWithheld) return true
      if (isError) return client.write(chunk)
      if (concluded !== null) return true
      const wasHolding = isHolding
      keep(bufferOf(chunk))
      if (isHolding || isWithheld) return true
      // Given up, it was sent with all that was held.
      return wasHolding ? isFree : client.write(chunk)
    },
    end: (chunk, trailers) => {
      if (isWithheld) return
      if (isError) {
        over()
        return client.end(chunk, trailers)
      }
      if (concluded !== null) return endWith(concluded, trailers)
      release()
      endWith(chunk, trailers)
    },
    cut: () => {
      if (isWithheld) return
      release()
      over()
      client.cut()
    },
    onDrain: (listener) => client.onDrain(listener),
    onClose: (listener) => {
      if (isRefused) {
        listener()
        return nothing
      }
      const noLongerRefused = leaving.add(listener)
      const noLongerClosed = client.onClose(listener)
      return () => {
        noLongerRefused()
        noLongerClosed()
      }
    },
    isClosed: () => isRefused || client.isClosed()
  }

  return {
    reply,
    soFar: () => (isTooLarge ? null : Buffer.concat(chunks)),
    isUntouched: () => !isTouched,
    isRefused: () => isRefused,
    hasHead: () => headSent,
    conclude: (all) => {
      isHolding = false
      drop()
      concluded = all
    },
    release,
    withhold: () => {
      isWithheld = true
      over()
    },
    refuse: (error) => {
      isWithheld = true
      over()
      if (client.isClosed()) return
      if (headSent) return client.end(codec.renderStreamError(describe(error), requestId))
      answerError(exchange, error)
    }
  }
}
