/**
 * A server by streamable HTTP: each message is a POST, answered by one JSON text or by a stream of events; what the server says of its own accord
 * comes by a GET that stays open. Redirects are not followed.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { SentSecrets } from "../../../kernel/secrets/SentSecrets.ts"
import { forAtMost } from "../../../kernel/time/AtMost.ts"
import type { TransportFailure, Upstream, UpstreamCall, UpstreamHeaders } from "../../../net/egress/Upstream.ts"
import { version as ownVersion } from "../../../platform/Version.ts"
import { readAnswerJson, Unreadable } from "../../../wire/json/Bounds.ts"
import { type Json, type JsonObject, objectOr, stringOr } from "../../../wire/json/Json.ts"
import { makeSseScanner, type SseEvent } from "../../../wire/sse/SseScanner.ts"
import { BadMessage, readMessages, type RequestId, type RpcResponse } from "../protocol/JsonRpc.ts"
import { type Link, type LinkError, linkError, type LinkEvents, maxAnswerBytes, type OpenLink } from "./Link.ts"

export interface Endpoint {
  readonly url: URL
  /** A flat name–value list; none of the names that this module sends. */
  readonly headers: ReadonlyArray<string>
  /** Secrets in the headers and the address that must not come back. */
  readonly secrets: SentSecrets
}

/** Most bytes read of an answer that refuses, for its reason. */
const maxReasonBytes = 65_536
const maxReasonChars = 200
const closeMs = 2_000
const listenAgainMs = { first: 1_000, most: 60_000 }

/** Headers of the protocol; the owner's may not replace them. */
export const ownHeaders: ReadonlySet<string> = new Set([
  "accept",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id"
])

const failureOf = ({ kind, message }: TransportFailure): LinkError => {
  const reason = kind === "reset" || kind === "truncated" || kind === "protocol" ? "ended" : "unreachable"
  const said = message.replace(/^The (?:upstream's )?/, "").replace(/\.$/, "")
  return linkError(
    reason,
    kind === "blocked" ? "has an address that the outbound policy does not allow" : `cannot be asked: ${said}`
  )
}

const isJson = (type: string): boolean => type.startsWith("application/json")
const isEvents = (type: string): boolean => type.startsWith("text/event-stream")
const typeOf = (headers: UpstreamHeaders): string => (headers.get("content-type") ?? "").trim().toLowerCase()

const tooLarge = (): LinkError => linkError("invalid", `answered with more than ${maxAnswerBytes} bytes`)

/** The reason that a refusal gives, in the forms of JSON-RPC and of OAuth; null where there is none. */
const reasonIn = (body: Buffer): string | null => {
  const value = readAnswerJson(body.toString("utf8"))
  if (value instanceof Unreadable) return null
  const { error, error_description: description } = objectOr(value)
  return stringOr(objectOr(error)["message"]) ?? stringOr(description) ?? stringOr(error)
}

/** Makes the error of a status that is no 2xx. */
const refusalOf = (status: number, body: Buffer, hasSession: boolean, scrub: (text: string) => string): LinkError => {
  const reason = reasonIn(body)
  const said = reason === null || reason.trim() === "" ? "" : `: ${scrub(reason).slice(0, maxReasonChars)}`
  if (status >= 300 && status < 400)
    return linkError("invalid", `answered with a redirect (${status}); register where it leads`)
  if (status === 401 || status === 403) return linkError("refused", `did not accept the credential (${status})${said}`)
  // A session that has ended is answered by 404; servers that keep it in memory answer 400 after a restart.
  if (hasSession && (status === 404 || status === 400)) return linkError("gone", `answered ${status}${said}`)
  return linkError(status >= 500 ? "unreachable" : "invalid", `answered ${status}${said}`)
}

export interface HttpLinkOptions {
  readonly dispatch: (typeof Upstream.Service)["dispatch"]
  readonly endpoint: Endpoint
  readonly scope: Scope.Scope
  /** Removes secrets from error texts. */
  readonly scrub: (text: string) => string
}

/** Facts of the session that the server has given. */
interface SessionState {
  session: string | null
  version: string | null
}

const headersOf = (
  { headers }: Endpoint,
  { session, version }: SessionState,
  accept: string
): ReadonlyArray<string> => [
  ...headers,
  "accept",
  accept,
  "accept-encoding",
  "identity",
  "user-agent",
  `gateway/${ownVersion}`,
  ...(session === null ? [] : ["mcp-session-id", session]),
  ...(version === null ? [] : ["mcp-protocol-version", version])
]

type Found = RpcResponse | LinkError | null

/** Hands messages on; the answer to `id` is returned, null where it is not among them. */
const sort = (secrets: SentSecrets, events: LinkEvents, text: string, id: RequestId | null): Found => {
  const value = secrets.json(readAnswerJson(text))
  if (value instanceof Unreadable) return linkError("invalid", "answered with what is no JSON")
  const read = readMessages(value)
  if (read instanceof BadMessage) return linkError("invalid", "answered with what is no JSON-RPC message")
  let answer: RpcResponse | null = null
  for (const message of read.messages) {
    if (message instanceof BadMessage) return linkError("invalid", "answered with what is no JSON-RPC message")
    if (message._tag !== "Response") events.onMessage(message)
    else if (message.id === id) answer = message
  }
  return answer
}

type Sort = (text: string, id: RequestId | null) => Found

const sortAll = (sort: Sort, all: ReadonlyArray<SseEvent>, id: RequestId | null): Found => {
  for (const { data } of all) {
    const found = sort(data, id)
    if (found !== null) return found
  }
  return null
}

interface Exchanging extends HttpLinkOptions {
  readonly state: SessionState
  readonly sort: Sort
}

const requestOf = ({ endpoint: { secrets, url } }: HttpLinkOptions) => ({
  origin: url.origin,
  path: url.pathname + url.search,
  secrets,
  owner: null
})

/** Reads the answer of one POST as it comes. */
class AnswerReading {
  readonly #parts: Exchanging
  readonly #id: RequestId | null
  readonly #settle: (found: Found) => void
  readonly #scanner = makeSseScanner(maxAnswerBytes)
  readonly #chunks: Array<Buffer> = []
  #size = 0
  #status = 0
  #isStream = false
  #most = maxAnswerBytes

  constructor(parts: Exchanging, id: RequestId | null, settle: (found: Found) => void) {
    this.#parts = parts
    this.#id = id
    this.#settle = settle
  }

  headers(status: number, headers: UpstreamHeaders): void {
    this.#status = status
    if (this.#isRefused()) {
      this.#most = maxReasonBytes
      return
    }
    const { state } = this.#parts
    const begun = headers.get("mcp-session-id")
    if (state.version === null && begun !== null && /^[\x21-\x7e]{1,512}$/.test(begun)) state.session = begun
    if (this.#id === null) return this.#settle(null)
    const type = typeOf(headers)
    this.#isStream = isEvents(type)
    if (!this.#isStream && !isJson(type)) this.#settle(linkError("invalid", "answered with what is no MCP message"))
  }

  data(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#most) {
      this.#settle(this.#isRefused() ? this.#refusal(Buffer.alloc(0)) : tooLarge())
    } else if (this.#isStream) {
      const found = sortAll(this.#parts.sort, this.#scanner.push(chunk), this.#id)
      if (found !== null) this.#settle(found)
    } else this.#chunks.push(chunk)
  }

  end(): void {
    const { sort } = this.#parts
    const body = Buffer.concat(this.#chunks, this.#isStream ? 0 : this.#size)
    if (this.#isRefused()) return this.#settle(this.#refusal(body))
    const found = this.#isStream ? sortAll(sort, this.#scanner.end(), this.#id) : sort(body.toString("utf8"), this.#id)
    this.#settle(found ?? linkError("ended", "ended its answer before the result"))
  }

  #isRefused(): boolean {
    return this.#status < 200 || this.#status >= 300
  }

  #refusal(body: Buffer): LinkError {
    const { scrub, state } = this.#parts
    return refusalOf(this.#status, body, state.session !== null, scrub)
  }
}

/** `id` null: the message has no answer. */
const post = (parts: Exchanging, message: Json, id: RequestId | null): Effect.Effect<RpcResponse | null, LinkError> =>
  Effect.async((resume) => {
    let isOver = false
    const settle = (found: RpcResponse | LinkError | null): void => {
      if (isOver) return
      isOver = true
      call.abort()
      resume(
        found === null ? Effect.succeed(null) : found._tag === "Response" ? Effect.succeed(found) : Effect.fail(found)
      )
    }
    const reading = new AnswerReading(parts, id, settle)
    const call: UpstreamCall = parts.dispatch(
      {
        ...requestOf(parts),
        method: "POST",
        headers: [
          ...headersOf(parts.endpoint, parts.state, "application/json, text/event-stream"),
          "content-type",
          "application/json"
        ],
        body: JSON.stringify(message)
      },
      {
        onHeaders: (status, headers) => reading.headers(status, headers),
        onData: (chunk) => {
          reading.data(chunk)
          return true
        },
        onEnd: () => reading.end(),
        onFail: (failure) => settle(failureOf(failure))
      }
    )
    return Effect.sync(() => {
      isOver = true
      call.abort()
    })
  })

/** One stream of messages; false when the server offers none. */
const listenOnce = (parts: Exchanging): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const scanner = makeSseScanner(maxAnswerBytes)
    const end = (again: boolean): void => {
      call.abort()
      resume(Effect.succeed(again))
    }
    const call: UpstreamCall = parts.dispatch(
      {
        ...requestOf(parts),
        method: "GET",
        headers: headersOf(parts.endpoint, parts.state, "text/event-stream"),
        body: null
      },
      {
        onHeaders: (status, headers) => {
          if (status !== 200 || !isEvents(typeOf(headers))) end(false)
        },
        onData: (chunk) => {
          const found = sortAll(parts.sort, scanner.push(chunk), null)
          if (found !== null || scanner.failure() !== null) end(false)
          return true
        },
        onEnd: () => end(true),
        onFail: () => end(true)
      }
    )
    return Effect.sync(() => call.abort())
  })

const listen = (parts: Exchanging): Effect.Effect<void> =>
  Effect.gen(function* () {
    let waitMs = listenAgainMs.first
    for (;;) {
      const fromMs = yield* Clock.currentTimeMillis
      if (!(yield* listenOnce(parts))) return
      const lastedMs = (yield* Clock.currentTimeMillis) - fromMs
      if (lastedMs > listenAgainMs.most) waitMs = listenAgainMs.first
      yield* Effect.sleep(waitMs)
      waitMs = Math.min(listenAgainMs.most, waitMs * 2)
    }
  })

/** Reports to the server that its session is not needed any more; whether that arrives does not matter. */
const leave = (parts: Exchanging): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    if (parts.state.session === null) return resume(Effect.void)
    const done = (): void => resume(Effect.void)
    const call = parts.dispatch(
      {
        ...requestOf(parts),
        method: "DELETE",
        headers: headersOf(parts.endpoint, parts.state, "application/json"),
        body: null
      },
      { onHeaders: done, onData: () => true, onEnd: done, onFail: done }
    )
    return Effect.sync(() => call.abort())
  }).pipe(forAtMost(closeMs))

export const httpLink =
  (options: HttpLinkOptions): OpenLink =>
  (events) =>
    Effect.sync((): Link => {
      const { scope } = options
      const state: SessionState = { session: null, version: null }
      const parts: Exchanging = {
        ...options,
        state,
        sort: (text, id) => sort(options.endpoint.secrets, events, text, id)
      }
      let listening: Fiber.RuntimeFiber<void> | null = null
      return {
        ask: (message: JsonObject, id) =>
          Effect.flatMap(post(parts, message, id), (answer) =>
            answer === null ? Effect.fail(linkError("ended", "gave no answer")) : Effect.succeed(answer)
          ),
        tell: (message) => Effect.asVoid(post(parts, message, null)),
        begun: (negotiated, listens) =>
          Effect.gen(function* () {
            state.version = negotiated
            if (listens) listening = yield* Effect.forkIn(listen(parts), scope)
          }),
        close: Effect.suspend(() =>
          Effect.zipRight(listening === null ? Effect.void : Fiber.interrupt(listening), leave(parts))
        )
      }
    })
