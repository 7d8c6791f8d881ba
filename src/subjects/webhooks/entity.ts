/** Receivers of events: an address that gets each event it wants as a signed POST. */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** Kind of a receiver: `custom` gets each event as JSON, the others get messages for people. */
export const WebhookKind = Schema.Literal("custom", "slack", "discord", "teams", "email")
export type WebhookKind = typeof WebhookKind.Type

export type MessageKind = Exclude<WebhookKind, "custom">

export const isMessageKind = (kind: WebhookKind): kind is MessageKind => kind !== "custom"

/** Protection of the connection to a mail server: from its first byte, by STARTTLS before anything else, or none. */
export const MailTls = Schema.Literal("implicit", "starttls", "none")
export type MailTls = typeof MailTls.Type

/** Settings for messages by mail. The server is in the webhook's address: `smtp://host:port`, or `smtps` for TLS from the first byte. */
export interface MailSettings {
  readonly tls: MailTls
  /** Null: the server asks for none. */
  readonly user: string | null
  readonly password: Redacted.Redacted | null
  readonly from: string
  readonly to: ReadonlyArray<string>
}

export const webhookEvents = [
  "request.completed",
  "request.failed",
  "provider.error",
  "provider.recovered",
  "quota.exceeded",
  "combo.switched",
  "plugin.error",
  "attention.raised",
  "attention.cleared",
  "report.weekly",
  "report.monthly",
  "quiet.digest",
  "test.ping"
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

export const everyEvent = "*"

/** Days of a week, in the order of `LocalTime.weekday`. */
export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const
export type Weekday = (typeof weekdays)[number]

/** Part of days in which nothing is sent, by the clocks of the webhook's time zone. */
export interface QuietWindow {
  /** Days on which it begins. */
  readonly days: ReadonlyArray<Weekday>
  /** `HH:MM`, included. */
  readonly from: string
  /** `HH:MM`, excluded; at or before `from`: on the next day. */
  readonly to: string
}

/** Least severities that are sent at any hour. */
export const passSeverities = ["error", "warning"] as const
export type PassSeverity = (typeof passSeverities)[number]

/** Times in which events wait. At their end the webhook gets one event that tells of all. */
export interface QuietHours {
  readonly windows: ReadonlyArray<QuietWindow>
  /** Severity from which on an event is sent at once all the same; null: none. */
  readonly passSeverity: PassSeverity | null
  /** Names of events that are sent at once all the same. */
  readonly passEvents: ReadonlyArray<string>
}

export const defaultTimeZone = "UTC"

export interface Webhook {
  readonly id: string
  readonly url: string
  /** Names of events, or `*` for all; names that are not known are kept and match nothing. */
  readonly events: ReadonlyArray<string>
  readonly kind: WebhookKind
  /** Null for other kinds, and when it cannot be decrypted with the key in use. */
  readonly mail: MailSettings | null
  /** Null when it cannot be decrypted with the key in use. */
  readonly secret: Redacted.Redacted | null
  readonly enabled: boolean
  readonly description: string | null
  /** IANA name: days and hours of reports and of quiet hours. */
  readonly timeZone: string
  /** Null: there are none. */
  readonly quietHours: QuietHours | null
  readonly createdAtMs: number
  /** Time of the last attempt; null before the first. */
  readonly lastTriggeredAtMs: number | null
  /** HTTP status of the last attempt, 0 when there was no answer; null before the first. */
  readonly lastStatus: number | null
  /** Deliveries that failed since the last one that did not. */
  readonly failureCount: number
}

/** Number of failed deliveries in a row at which a webhook is disabled. */
export const maxFailures = 10

export const wants = ({ enabled, events }: Pick<Webhook, "enabled" | "events">, event: WebhookEvent): boolean =>
  enabled && (events.includes(everyEvent) || events.includes(event))

/** An event on its way to the webhooks. */
export interface OutgoingEvent {
  /** Unique; the same event at several webhooks has one id. */
  readonly id: string
  readonly event: WebhookEvent
  readonly atMs: number
  readonly data: Readonly<Record<string, unknown>>
}

/** One attempt to deliver an event, as it is recorded. */
export interface DeliveryAttempt extends Attempted {
  /** Rises with time. */
  readonly id: number
  /** True when it was the last attempt and failed, and its event is kept: it can be sent again. */
  readonly mayRetry: boolean
}

/** One attempt to deliver an event. */
export interface Attempted {
  readonly webhookId: string
  readonly eventId: string
  readonly event: string
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** 0 when there was no answer. */
  readonly status: number
  readonly success: boolean
  /** Reason of the failure, for people; null when there was none. */
  readonly error: string | null
  readonly latencyMs: number
  readonly atMs: number
}
