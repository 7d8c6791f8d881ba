/**
 * The way to a client whose answer is watched over. Streams pass through the filter event by event. Of a whole answer, and of the last bytes of
 * a stream, the feature takes care before they are settled (`conclude`); what comes to an end without that is taken care of here.
 */
import { describe, type GuardrailBlocked } from "../../../../domain/Errors.ts"
import { Listeners } from "../../../../kernel/Listeners.ts"
import { framingOf } from "../../../reply/Frames.ts"
import type { ClientReply, Exchange, Trailers } from "../../../request/Exchange.ts"
import { answerError } from "../../../request/OwnAnswer.ts"
import type { AnswerGuard, Watch } from "./AnswerGuard.ts"
import { makeStreamFilter } from "./StreamFilter.ts"
import { filterWhole } from "./WholeFilter.ts"
import { readers } from "./wires/readers.ts"

/** What the client is to get at the end. */
export type Concluded = Buffer | string | GuardrailBlocked

export interface GuardedReply {
  readonly reply: ClientReply
  readonly watch: Watch
  /** The client has the head of its answer: an error can only be told in the stream. */
  readonly hasHead: () => boolean
  /** What is to be sent of the last bytes of a stream. What comes afterwards goes on as it is. */
  readonly concludeStream: (last: Buffer | string) => Concluded
  /** The same of a whole answer. */
  readonly concludeWhole: (body: Buffer | string) => Concluded
  /** Nothing more is looked at. */
  readonly conclude: () => void
  /** Ends the answer with an error. */
  readonly refuse: (error: GuardrailBlocked) => void
}

export const headerName = "X-Gateway-Guardrail"

/** The beginning of a stream that is kept until something is said, so that an answer can still be refused with a status. */
const maxPreambleBytes = 1_048_576

const nothing = (): void => {}

interface Head {
  readonly status: number
  readonly headers: Array<string>
}

/** `Content-Length` is that of the body that goes out. */
const withLength = ({ headers, status }: Head, bytes: number): Head => {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-length")
  return at < 0 ? { status, headers } : { status, headers: headers.with(at + 1, String(bytes)) }
}

export const guardReply = (exchange: Exchange, isStream: boolean, guard: AnswerGuard, watch: Watch): GuardedReply => {
  const { codec, reply: client, requestId } = exchange
  const reader = readers[exchange.wire]
  const mode = guard.texts?.mode ?? null
  const leaving = new Listeners()
  /** Before the end of the answer everything is looked at; afterwards, and in errors, nothing is. */
  let isOver = false
  let isError = false
  let head: Head | null = null
  let headSent = false
  let out: Array<Buffer> = []
  let outBytes = 0
  let says = false
  const body: Array<Buffer> = []

  const keep = (bytes: Buffer): void => {
    if (watch.blocked() !== null) return
    out.push(bytes)
    outBytes += bytes.length
  }

  /** Where findings are only counted, the client gets what came. */
  const keepAsCame = (chunk: Buffer | string): void => {
    if (mode === "warn") keep(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
  }

  const filter = makeStreamFilter({
    framing: framingOf(codec),
    reader,
    guard: watch.guard,
    found: watch.found,
    unread: watch.unread,
    read: watch.read,
    release: (bytes, isSaid) => {
      says ||= isSaid
      if (mode !== "warn") keep(bytes)
    }
  })

  const sendHead = (): void => {
    if (head === null) return
    const { headers, status } = head
    head = null
    headSent = true
    const value = guard.header(watch.facts())
    client.head(status, value === null ? headers : [...headers, headerName, value])
  }

  const take = (): Buffer => {
    const [only] = out
    const bytes = out.length === 1 && only !== undefined ? only : Buffer.concat(out, outBytes)
    out = []
    outBytes = 0
    return bytes
  }

  /** Whether the head waits for the first words of the answer. */
  const isHeld = (): boolean => head !== null && !says && outBytes < maxPreambleBytes

  const blockedNow = (): boolean => watch.blocked() !== null && !isOver

  const pushed = (chunk: Buffer | string): boolean => {
    filter.push(chunk)
    if (watch.blocked() !== null) {
      take()
      leaving.tell()
      return true
    }
    keepAsCame(chunk)
    if (outBytes === 0 || isHeld()) return true
    sendHead()
    return client.write(take())
  }

  const signOfLife = (chunk: string): boolean => {
    if (head !== null) {
      sendHead()
      if (outBytes > 0) client.write(take())
    }
    return client.write(chunk)
  }

  const conclude = (): void => {
    isOver = true
  }

  const concludeStream = (last: Buffer | string): Concluded => {
    filter.push(last)
    filter.end()
    keepAsCame(last)
    conclude()
    return watch.blocked() ?? take()
  }

  const concludeWhole = (whole: Buffer | string): Concluded => {
    const filtered = filterWhole(whole, {
      reader,
      guard: watch.guard,
      found: watch.found,
      read: watch.read,
      unread: watch.unread
    })
    conclude()
    return watch.blocked() ?? (mode === "warn" ? whole : filtered)
  }

  /** The end of an answer that no call of this request has made. */
  const endHere = (chunk: Buffer | string, trailers?: Trailers): void => {
    const whole = body.length === 0 ? chunk : Buffer.concat([...body, Buffer.from(chunk)])
    const concluded = isStream ? concludeStream(chunk) : concludeWhole(whole)
    if (typeof concluded === "string" || Buffer.isBuffer(concluded)) {
      if (head !== null && !isStream) head = withLength(head, Buffer.byteLength(concluded))
      sendHead()
      client.end(concluded, trailers)
    } else refuse(concluded)
  }

  const refuse = (error: GuardrailBlocked): void => {
    conclude()
    if (headSent) return client.end(codec.renderStreamError(describe(error), requestId))
    head = null
    isError = true
    answerError({ ...exchange, reply }, error)
  }

  const reply: ClientReply = {
    head: (status, headers) => {
      head = { status, headers }
      isError ||= status !== 200
      // A stream that may be refused, and a whole answer, are told with the first bytes of which it is known that they may go out.
      if (isOver || isError || (isStream && mode !== "block" && guard.mayCall === null)) sendHead()
    },
    write: (chunk) => {
      if (blockedNow()) return true
      if (isOver || isError) {
        sendHead()
        return client.write(chunk)
      }
      if (!isStream) {
        body.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
        return true
      }
      return chunk === codec.heartbeat && typeof chunk === "string" ? signOfLife(chunk) : pushed(chunk)
    },
    end: (chunk, trailers) => {
      if (!isOver && !isError) return endHere(chunk, trailers)
      sendHead()
      client.end(chunk, trailers)
    },
    cut: () => client.cut(),
    onDrain: (listener) => client.onDrain(listener),
    onClose: (listener) => {
      if (blockedNow()) {
        listener()
        return nothing
      }
      const noLongerBlocked = leaving.add(listener)
      const noLongerClosed = client.onClose(listener)
      return () => {
        noLongerBlocked()
        noLongerClosed()
      }
    },
    isClosed: () => blockedNow() || client.isClosed()
  }

  return { reply, watch, hasHead: () => headSent, concludeStream, concludeWhole, conclude, refuse }
}
