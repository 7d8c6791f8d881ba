/**
 * One attempt to send an event to a webhook, by the guarded client: private addresses are refused each time, redirects are not followed.
 * Receivers of messages for people are not given the signatures, which they do not verify.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { isMessageKind, type MessageKind, type Webhook } from "./entity.ts"
import { Mail, type MailFailed } from "../../net/egress/Mail.ts"
import { blockMessage } from "../../net/egress/OutboundPolicy.ts"
import { PublicFetch } from "../../net/egress/PublicFetch.ts"
import type { TransportFailureKind } from "../../net/egress/TransportFailure.ts"
import { retryAfter } from "../../plane/resilience/failure/HeaderHints.ts"
import { objectOr, parseJson } from "../../wire/json/Json.ts"
import { serverOf } from "./MailAddress.ts"
import { type Delivered, eventBody, headersOf } from "./Message.ts"
import { mailText, messageBody } from "./messages/Bodies.ts"
import type { Notice } from "./messages/Notice.ts"

export interface Sent {
  /** 0 when there was no answer. */
  readonly status: number
  readonly success: boolean
  /** Null when it succeeded. */
  readonly error: string | null
  /** True when it may succeed when it is sent again soon. */
  readonly mayRetry: boolean
  /** Time in ms for which the receiver wants no messages; null when it does not say. */
  readonly retryAfterMs: number | null
  /** Nothing came back in time: the receiver takes up a place for as long as an attempt may last. */
  readonly timedOut: boolean
  readonly atMs: number
  readonly latencyMs: number
}

export class Sender extends Context.Tag("gateway/subjects/webhooks/Sender")<
  Sender,
  {
    /** `notice`: the event in words, for the kinds that are messages. */
    readonly send: (webhook: Webhook, delivered: Delivered, notice: Notice) => Effect.Effect<Sent>
  }
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

type Outcome = Pick<Sent, "status" | "success" | "error" | "mayRetry" | "retryAfterMs" | "timedOut">

const failed = (error: string, mayRetry: boolean, timedOut = false, status = 0): Outcome => ({
  status,
  success: false,
  error,
  mayRetry,
  retryAfterMs: null,
  timedOut
})

const answered = (status: number): Outcome => {
  const success = status >= 200 && status < 300
  const error = success ? null : `The receiver answered ${status}.`
  return { status, success, error, mayRetry: status >= 500, retryAfterMs: null, timedOut: false }
}

/** Longer waits are not believed. */
const longestWaitMs = 3_600_000
/** Wait in ms for a receiver that has too many messages and does not say how long. */
const usualWaitMs = 1_000
/** Most bytes of an answer that are read. */
const maxAnswerBytes = 65_536

/** Discord says it in the body, in seconds: https://discord.com/developers/docs/topics/rate-limits#exceeding-a-rate-limit */
const waitOf = (header: string | null, body: string, nowMs: number): number => {
  const inBody = objectOr(parseJson(body))["retry_after"]
  const ofBody = typeof inBody === "number" && inBody >= 0 ? inBody * 1_000 : null
  const ofHeader = retryAfter((name) => (name === "retry-after" ? header : null), nowMs)
  return Math.min(
    longestWaitMs,
    Math.max(ofBody ?? 0, ofHeader ?? 0, ofBody === null && ofHeader === null ? usualWaitMs : 0)
  )
}

const tooMany = 429

const mailFailures: Readonly<Record<MailFailed["kind"], string>> = {
  blocked: "The outbound policy does not allow the mail server's address.",
  dns: "The mail server's host name could not be resolved.",
  connection: "The connection to the mail server failed.",
  tls: "The connection to the mail server could not be protected by TLS.",
  login: "The mail server does not accept the user and password.",
  refused: "The mail server refused the message.",
  timeout: "The mail server did not answer in time."
}

/** Replies of SMTP from 400 to 499 are for a while, those from 500 on for good. */
const mailFailed = ({ kind, status }: MailFailed): Outcome => {
  const isPassing = status === 0 ? kind !== "blocked" && kind !== "tls" && kind !== "login" : status < 500
  const error = status === 0 ? mailFailures[kind] : `${mailFailures[kind]} It answered ${status}.`
  return failed(error, isPassing, kind === "timeout", status)
}

const noMail = "How to send the mail cannot be decrypted with the encryption key in use. Set it anew."

export const make = Effect.gen(function* () {
  const net = yield* PublicFetch
  const mail = yield* Mail

  const transportFailed = (kind: TransportFailureKind, message: string): Outcome =>
    // A name that leads to a private address now is not tried again: what it led to when it was saved was checked.
    failed(
      kind === "tls" ? message.replace("the upstream", "the receiver") : failures[kind],
      kind !== "blocked",
      kind === "connect_timeout"
    )
  const tooLate = failed(`The receiver did not answer within ${attemptTimeoutMs / 1_000} seconds.`, true, true)

  const sendEvent = ({ secret, url }: Webhook, delivered: Delivered, nowMs: number): Effect.Effect<Outcome> => {
    if (secret === null) return Effect.succeed(failed(locked, false))
    const body = eventBody(delivered)
    const headers = headersOf(Redacted.value(secret), delivered, body, nowMs)
    return net.post(url, { headers, body }, attemptTimeoutMs).pipe(
      Effect.map(answered),
      Effect.catchTags({
        TransportFailure: ({ kind, message }) => Effect.succeed(transportFailed(kind, message)),
        TimedOut: () => Effect.succeed(tooLate),
        UrlBlocked: ({ reason }) => Effect.succeed(failed(blockMessage[reason], false))
      })
    )
  }

  const sendMessage = (
    { url }: Webhook,
    kind: Exclude<MessageKind, "email">,
    notice: Notice,
    nowMs: number
  ): Effect.Effect<Outcome> => {
    const message = { headers: ["content-type", "application/json"], body: messageBody(kind, notice) }
    return net.send(url, message, { maxBytes: maxAnswerBytes, timeoutMs: attemptTimeoutMs }).pipe(
      Effect.map(({ body, headers, status }): Outcome => {
        if (status !== tooMany) return answered(status)
        const retryAfterMs = waitOf(headers.get("retry-after"), body.toString("utf8"), nowMs)
        return { ...failed("The receiver takes no more messages for now.", true, false, status), retryAfterMs }
      }),
      Effect.catchTags({
        TransportFailure: ({ kind: failure, message }) => Effect.succeed(transportFailed(failure, message)),
        ResponseTooLarge: () => Effect.succeed(failed("The receiver's answer is too large.", false)),
        TimedOut: () => Effect.succeed(tooLate),
        UrlBlocked: ({ reason }) => Effect.succeed(failed(blockMessage[reason], false))
      })
    )
  }

  const sendMail = (webhook: Webhook, { id }: Delivered, notice: Notice): Effect.Effect<Outcome> => {
    const server = serverOf(webhook.url)
    if (webhook.mail === null || server === null) return Effect.succeed(failed(noMail, false))
    const message = { ...mailText(notice), messageId: `<${id}.${webhook.id}@gateway.invalid>` }
    return mail.send(server, webhook.mail, message, attemptTimeoutMs).pipe(
      Effect.map(answered),
      Effect.catchTag("MailFailed", (failure) => Effect.succeed(mailFailed(failure)))
    )
  }

  const outcomeOf = (webhook: Webhook, delivered: Delivered, notice: Notice, nowMs: number): Effect.Effect<Outcome> => {
    const { kind } = webhook
    if (!isMessageKind(kind)) return sendEvent(webhook, delivered, nowMs)
    return kind === "email" ? sendMail(webhook, delivered, notice) : sendMessage(webhook, kind, notice, nowMs)
  }

  const send = Effect.fn("Sender.send")(function* (webhook: Webhook, delivered: Delivered, notice: Notice) {
    const atMs = yield* Clock.currentTimeMillis
    const outcome = yield* outcomeOf(webhook, delivered, notice, atMs)
    const latencyMs = Math.max(0, (yield* Clock.currentTimeMillis) - atMs)
    return { ...outcome, atMs, latencyMs }
  })
  return Sender.of({ send })
})

export const layer: Layer.Layer<Sender, never, Mail | PublicFetch> = Layer.effect(Sender, make)
