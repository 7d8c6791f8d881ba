/** One attempt to send an event to a webhook, by the guarded way out: private addresses are refused each time, redirects are not followed. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Webhook } from "../domain/Webhook.ts"
import { blockMessage } from "../egress/OutboundPolicy.ts"
import { PublicFetch } from "../egress/PublicFetch.ts"
import type { TransportFailureKind } from "../egress/TransportFailure.ts"
import { bodyOf, type Delivered, headersOf } from "./Message.ts"

export interface Sent {
  /** 0 when there was no answer. */
  readonly status: number
  readonly success: boolean
  /** Null when it succeeded. */
  readonly error: string | null
  /** It may succeed when it is sent again soon. */
  readonly mayRetry: boolean
  /** Nothing came back in time: the receiver takes up a place for as long as an attempt may last. */
  readonly timedOut: boolean
  readonly atMs: number
  readonly latencyMs: number
}

export class Sender extends Context.Tag("gateway/webhooks/Sender")<
  Sender,
  { readonly send: (webhook: Webhook, delivered: Delivered) => Effect.Effect<Sent> }
>() {}

export const attemptTimeoutMs = 10_000

const failures: Readonly<Record<TransportFailureKind, string>> = {
  refused: "The receiver refused the connection.",
  dns: "The receiver's host name could not be resolved.",
  tls: "The TLS handshake with the receiver failed.",
  reset: "The receiver closed the connection before it answered.",
  connect_timeout: "The connection to the receiver was not made in time.",
  blocked: "The outbound policy does not allow the receiver's address.",
  truncated: "The receiver's answer ended before its head was complete.",
  protocol: "The receiver's answer is not valid HTTP.",
  proxy: "The proxy for this call cannot be used.",
  proxy_family: "The proxy for this call has no address of the IP family it is set to.",
  other: "The call to the receiver failed."
}

const locked = "The webhook's secret cannot be decrypted with the encryption key in use. Set a new secret."

type Outcome = Pick<Sent, "status" | "success" | "error" | "mayRetry" | "timedOut">

const failed = (error: string, mayRetry: boolean, timedOut = false): Outcome => ({
  status: 0,
  success: false,
  error,
  mayRetry,
  timedOut
})

const answered = (status: number): Outcome => {
  const success = status >= 200 && status < 300
  const error = success ? null : `The receiver answered ${status}.`
  return { status, success, error, mayRetry: status >= 500, timedOut: false }
}

export const make = Effect.gen(function* () {
  const { post } = yield* PublicFetch

  const outcomeOf = ({ kind, secret, url }: Webhook, delivered: Delivered, nowMs: number): Effect.Effect<Outcome> => {
    if (secret === null) return Effect.succeed(failed(locked, false))
    const body = bodyOf(kind, delivered)
    const headers = headersOf(Redacted.value(secret), delivered, body, nowMs)
    return post(url, { headers, body }, attemptTimeoutMs).pipe(
      Effect.map(answered),
      Effect.catchTags({
        // A name that leads to a private address now is not tried again: what it led to when it was saved was checked.
        TransportFailure: ({ kind: failure }) =>
          Effect.succeed(failed(failures[failure], failure !== "blocked", failure === "connect_timeout")),
        TimedOut: () =>
          Effect.succeed(failed(`The receiver did not answer within ${attemptTimeoutMs / 1_000} seconds.`, true, true)),
        UrlBlocked: ({ reason }) => Effect.succeed(failed(blockMessage[reason], false))
      })
    )
  }

  const send = Effect.fn("Sender.send")(function* (webhook: Webhook, delivered: Delivered) {
    const atMs = yield* Clock.currentTimeMillis
    const outcome = yield* outcomeOf(webhook, delivered, atMs)
    const latencyMs = Math.max(0, (yield* Clock.currentTimeMillis) - atMs)
    return { ...outcome, atMs, latencyMs }
  })
  return Sender.of({ send })
})

export const layer: Layer.Layer<Sender, never, PublicFetch> = Layer.effect(Sender, make)
