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

export const httpLink =
  (
    dispatch: (typeof Upstream.Service)["dispatch"],
    { headers: given, secrets, url }: Endpoint,
    scope: Scope.Scope,
    scrub: (text: string) => string
  ): OpenLink =>
  (events: LinkEvents) =>
    Effect.sync((): Link => {
      const target = { origin: url.origin, path: url.pathname + url.search }
      let session: string | null = null
      let version: string | null = null
      let listening: Fiber.RuntimeFiber<void> | null = null

      const headersOf = (accept: string): ReadonlyArray<string> => [
        ...given,
        "accept",
        accept,
        "accept-encoding",
        "identity",
        "user-agent",
        `gateway/${ownVersion}`,
        ...(session === null ? [] : ["mcp-session-id", session]),
        ...(version === null ? [] : ["mcp-protocol-version", version])
      ]

      /** Hands messages on; the answer to `id` is returned, null where it is not among them. */
      const sort = (text: string, id: RequestId | null): RpcResponse | LinkError | null => {
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

      const sortAll = (all: ReadonlyArray<SseEvent>, id: RequestId | null): RpcResponse | LinkError | null => {
        for (const { data } of all) {
          const found = sort(data, id)
          if (found !== null) return found
        }
        return null
      }

      /** `id` null: the message has no answer. */
      const post = (message: Json, id: RequestId | null): Effect.Effect<RpcResponse | null, LinkError> =>
        Effect.async((resume) => {
          const scanner = makeSseScanner(maxAnswerBytes)
          const chunks: Array<Buffer> = []
          const state = { size: 0, status: 0, isStream: false, most: maxAnswerBytes }
          let isOver = false

          const settle = (found: RpcResponse | LinkError | null): void => {
            if (isOver) return
            isOver = true
            call.abort()
            resume(
              found === null
                ? Effect.succeed(null)
                : found._tag === "Response"
                  ? Effect.succeed(found)
                  : Effect.fail(found)
            )
          }
          const isRefused = () => state.status < 200 || state.status >= 300

          const call: UpstreamCall = dispatch(
            {
              ...target,
              method: "POST",
              headers: [...headersOf("application/json, text/event-stream"), "content-type", "application/json"],
              body: JSON.stringify(message),
              secrets,
              owner: null
            },
            {
              onHeaders: (status, headers) => {
                state.status = status
                if (isRefused()) {
                  state.most = maxReasonBytes
                  return
                }
                const begun = headers.get("mcp-session-id")
                if (version === null && begun !== null && /^[\x21-\x7e]{1,512}$/.test(begun)) session = begun
                if (id === null) return settle(null)
                const type = typeOf(headers)
                state.isStream = isEvents(type)
                if (!state.isStream && !isJson(type))
                  settle(linkError("invalid", "answered with what is no MCP message"))
              },
              onData: (chunk) => {
                state.size += chunk.length
                if (state.size > state.most) {
                  settle(isRefused() ? refusalOf(state.status, Buffer.alloc(0), session !== null, scrub) : tooLarge())
                } else if (state.isStream) {
                  const found = sortAll(scanner.push(chunk), id)
                  if (found !== null) settle(found)
                } else chunks.push(chunk)
                return true
              },
              onEnd: () => {
                const body = Buffer.concat(chunks, state.isStream ? 0 : state.size)
                if (isRefused()) return settle(refusalOf(state.status, body, session !== null, scrub))
                const found = state.isStream ? sortAll(scanner.end(), id) : sort(body.toString("utf8"), id)
                settle(found ?? linkError("ended", "ended its answer before the result"))
              },
              onFail: (failure) => settle(failureOf(failure))
            }
          )
          return Effect.sync(() => {
            isOver = true
            call.abort()
          })
        })

      /** One stream of messages; false when the server offers none. */
      const listenOnce: Effect.Effect<boolean> = Effect.async((resume) => {
        const scanner = makeSseScanner(maxAnswerBytes)
        const end = (again: boolean): void => {
          call.abort()
          resume(Effect.succeed(again))
        }
        const call: UpstreamCall = dispatch(
          { ...target, method: "GET", headers: headersOf("text/event-stream"), body: null, secrets, owner: null },
          {
            onHeaders: (status, headers) => {
              if (status !== 200 || !isEvents(typeOf(headers))) end(false)
            },
            onData: (chunk) => {
              const found = sortAll(scanner.push(chunk), null)
              if (found !== null || scanner.failure !== null) end(false)
              return true
            },
            onEnd: () => end(true),
            onFail: () => end(true)
          }
        )
        return Effect.sync(() => call.abort())
      })

      const listen = Effect.gen(function* () {
        let waitMs = listenAgainMs.first
        for (;;) {
          const fromMs = yield* Clock.currentTimeMillis
          if (!(yield* listenOnce)) return
          const lastedMs = (yield* Clock.currentTimeMillis) - fromMs
          if (lastedMs > listenAgainMs.most) waitMs = listenAgainMs.first
          yield* Effect.sleep(waitMs)
          waitMs = Math.min(listenAgainMs.most, waitMs * 2)
        }
      })

      /** Reports to the server that its session is not needed any more; whether that arrives does not matter. */
      const leave: Effect.Effect<void> = Effect.async<void>((resume) => {
        if (session === null) return resume(Effect.void)
        const done = (): void => resume(Effect.void)
        const call = dispatch(
          { ...target, method: "DELETE", headers: headersOf("application/json"), body: null, secrets, owner: null },
          { onHeaders: done, onData: () => true, onEnd: done, onFail: done }
        )
        return Effect.sync(() => call.abort())
      }).pipe(Effect.timeout(closeMs), Effect.ignore)

      return {
        ask: (message: JsonObject, id) =>
          Effect.flatMap(post(message, id), (answer) =>
            answer === null ? Effect.fail(linkError("ended", "gave no answer")) : Effect.succeed(answer)
          ),
        tell: (message) => Effect.asVoid(post(message, null)),
        begun: (negotiated, listens) =>
          Effect.gen(function* () {
            version = negotiated
            if (listens) listening = yield* Effect.forkIn(listen, scope)
          }),
        close: Effect.suspend(() =>
          Effect.zipRight(listening === null ? Effect.void : Fiber.interrupt(listening), leave)
        )
      }
    })
