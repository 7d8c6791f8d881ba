/**
 * The reply of a client whose answer is checked. Streams are filtered event by event. `conclude` checks a whole answer, or the last bytes of a
 * stream, before it is settled; `end` then sends the checked bytes in place of those it is given, so that features further in see the answer
 * unchanged. An answer that ends without `conclude` is checked in `end`.
 */
import * as Effect from "effect/Effect"
import { describe, type GuardrailBlocked } from "../../../../domain/Errors.ts"
import { Listeners } from "../../../../kernel/collections/Listeners.ts"
import { framingOf } from "../../../reply/Frames.ts"
import type { ClientReply, Trailers, Work } from "../../../request/Exchange.ts"
import { changingHead } from "../../../reply/ReplyHeaders.ts"
import { answerError } from "../../../request/OwnAnswer.ts"
import type { AnswerGuard, Watch } from "./AnswerGuard.ts"
import { makePace } from "./Pace.ts"
import type { Steps } from "./Steps.ts"
import { makeStreamFilter } from "./StreamFilter.ts"
import { filterWholeIn } from "./WholeFilter.ts"
import { readers } from "./wires/readers.ts"

export interface GuardedReply {
  readonly reply: ClientReply
  readonly watch: Watch
  /** Tells whether the client has the head of its answer: then an error can only be sent in the stream. */
  readonly hasHead: () => boolean
  /** Nothing of a whole answer has come. */
  readonly isUntouched: () => boolean
  /** Looks at what is to come: the last bytes of a stream, or of a whole answer. Why they may not be given; null where they may. */
  readonly concludeWith: (rest: Buffer | string) => Effect.Effect<GuardrailBlocked | null>
  /**
   * Returns the bytes that replace the end that is to come; null before `concludeWith`, and where the answer is not
   * given.
   */
  readonly concluded: () => Buffer | string | null
  /** Nothing more of the answer goes out. */
  readonly withhold: () => void
  /** Ends the answer with an error, once. */
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

export type Guardable = Pick<Work, "exchange" | "trail"> & { readonly envelope: Pick<Work["envelope"], "stream"> }

export const guardReply = (
  { envelope, exchange, trail }: Guardable,
  guard: AnswerGuard,
  watch: Watch
): GuardedReply => {
  const isStream = envelope.stream
  const { codec, reply: client, requestId } = exchange
  const reader = readers[exchange.wire]
  const mode = guard.texts?.mode ?? null
  const leaving = new Listeners()
  /** True after the end of the answer: before it everything is looked at; afterwards, and in errors, nothing is. */
  let isOver = false
  let isError = false
  let head: Head | null = null
  let headSent = false
  let out: Array<Buffer> = []
  let outBytes = 0
  let says = false
  const body: Array<Buffer> = []
  /** Bytes that replace the end that is to come. */
  let concluded: Buffer | string | null = null
  /** The answer is not given: nothing more of it goes out. */
  let isWithheld = false
  let isRefused = false

  const keep = (bytes: Buffer): void => {
    if (watch.blocked() !== null) return
    out.push(bytes)
    outBytes += bytes.length
  }

  /** Keeps the original bytes where findings are only counted. */
  const keepAsCame = (chunk: Buffer | string): void => {
    if (mode === "warn") keep(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
  }

  const pace = makePace(guard.later)
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

  const marked = (headers: Array<string>): Array<string> => {
    const value = guard.header(watch.facts())
    return value === null ? headers : [...headers, headerName, value]
  }

  const sendHead = (): void => {
    if (head === null) return
    const { headers, status } = head
    head = null
    headSent = true
    client.head(status, marked(headers))
  }

  const take = (): Buffer => {
    const [only] = out
    const bytes = out.length === 1 && only !== undefined ? only : Buffer.concat(out, outBytes)
    out = []
    outBytes = 0
    return bytes
  }

  /** Tells whether the head waits for the first text of the answer. */
  const isHeld = (): boolean => head !== null && !says && outBytes < maxPreambleBytes

  const blockedNow = (): boolean => watch.blocked() !== null && !isOver

  /** False: the client, or the look at what came, is behind. */
  const pushed = (chunk: Buffer | string): boolean => {
    let isTaken = true
    const isDone = pace.run(
      () => filter.pushIn(chunk),
      () => {
        isTaken = passOn(chunk)
      }
    )
    return isDone && isTaken
  }

  const passOn = (chunk: Buffer | string): boolean => {
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

  const withhold = (): void => {
    isWithheld = true
  }

  const lastIn = function* (last: Buffer | string): Steps<Buffer> {
    yield* filter.pushIn(last)
    yield* filter.endIn()
    keepAsCame(last)
    return take()
  }

  const filteredIn = function* (rest: Buffer | string): Steps<Buffer | string> {
    const whole = body.length === 0 ? rest : Buffer.concat([...body, Buffer.from(rest)])
    const { found, guard: texts, read, unread } = watch
    const filtered = yield* filterWholeIn(whole, { reader, guard: texts, found, read, unread })
    return mode === "warn" ? whole : filtered
  }

  /** Calls `next` at once where there is little to look at. */
  const conclude = (rest: Buffer | string, next: (blocked: GuardrailBlocked | null) => void): void => {
    pace.run<Buffer | string>(
      () => (isStream ? lastIn(rest) : filteredIn(rest)),
      (bytes) => {
        isOver = true
        const blocked = watch.blocked()
        if (blocked === null) concluded = bytes
        else withhold()
        next(blocked)
      }
    )
  }

  const concludeWith = (rest: Buffer | string): Effect.Effect<GuardrailBlocked | null> =>
    Effect.async((resume) => conclude(rest, (blocked) => resume(Effect.succeed(blocked))))

  /** `head`: of an answer whose end is known. */
  const endWith = (bytes: Buffer | string, trailers?: Trailers): void => {
    if (head !== null && !isStream) head = withLength(head, Buffer.byteLength(bytes))
    sendHead()
    client.end(bytes, trailers)
  }

  /** The end of an answer that was not looked at before. */
  const endHere = (chunk: Buffer | string, trailers?: Trailers): void => {
    conclude(chunk, (blocked) => {
      if (blocked !== null) refuse(blocked)
      else endWith(concluded ?? "", trailers)
    })
  }

  const refuse = (error: GuardrailBlocked): void => {
    withhold()
    if (isRefused || client.isClosed()) return
    isRefused = true
    if (headSent) return client.end(codec.renderStreamError(describe(error), requestId))
    const told = changingHead(client, (_, headers) => marked(headers))
    answerError({ ...exchange, reply: told }, error, trail.headers)
  }

  const reply: ClientReply = {
    head: (status, headers) => {
      if (isWithheld) return
      head = { status, headers }
      isError ||= status !== 200
      // A stream that may be refused, and a whole answer, begin with the first bytes that are known to be allowed out.
      const isFree = isStream ? isOver || (mode !== "block" && guard.mayCall === null) : isOver && concluded === null
      if (isError || isFree) sendHead()
    },
    write: (chunk) => {
      if (isWithheld || blockedNow() || (concluded !== null && !isError)) return true
      if (isOver || isError) {
        sendHead()
        return client.write(chunk)
      }
      if (!isStream) {
        body.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
        return true
      }
      return pushed(chunk)
    },
    end: (chunk, trailers) => {
      if (isWithheld) return
      if (!isError && concluded !== null) return endWith(concluded, trailers)
      if (!isOver && !isError) return endHere(chunk, trailers)
      sendHead()
      client.end(chunk, trailers)
    },
    cut: () => {
      if (!isWithheld) client.cut()
    },
    onDrain: (listener) => {
      const noLongerBehind = pace.onCaughtUp(listener)
      const noLongerFull = client.onDrain(listener)
      return () => {
        noLongerBehind()
        noLongerFull()
      }
    },
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

  return {
    reply,
    watch,
    hasHead: () => headSent,
    isUntouched: () => body.length === 0,
    concludeWith,
    concluded: () => concluded,
    withhold,
    refuse
  }
}
