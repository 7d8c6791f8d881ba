/** Webhooks: receivers that get events as signed POST requests (docs/webhooks.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { MailTls, passSeverities, weekdays, WebhookKind } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import {
  Accepted,
  body,
  clearable,
  Created,
  nextCursor,
  total,
  NoContent,
  optional,
  ReadOnly,
  TimeZone
} from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

const words = {
  url: [
    "Where events are sent: http or https; of the kind `email` the mail server, `smtps://host:465` or `smtp://host:587`.",
    "https://hooks.example.com/gateway"
  ],
  events: ["Names of the events that are sent; `*` stands for all.", ["request.failed", "provider.error"]],
  kind: [
    "What is sent: `custom` (also called `generic`) is each event as JSON, the others are messages for people at these services.",
    "custom"
  ],
  enabled: ["1: events are sent; 0: events that wait are kept, and no new ones are taken.", 1],
  description: ["What it is for.", "Alerts"],
  timeZone: ["IANA time zone of the reports' weeks and months and of the quiet hours.", "Europe/Zurich"]
} as const

const quietWords = {
  quietHours:
    "When events wait: at the end of the time the webhook gets one `quiet.digest` that tells of all of them. Null: there are none.",
  windows: "The times, by the clocks of `timeZone`.",
  days: ["Days on which it begins.", ["mon", "tue", "wed", "thu", "fri"]],
  from: ["When it begins, `HH:MM`.", "22:00"],
  to: ["When it ends, `HH:MM`; at or before `from` it is on the next day.", "07:00"],
  passSeverity: [
    "What is sent at once all the same: `error` (as a provider that keeps failing), `warning` (these, too), or null: nothing by its severity.",
    "error"
  ],
  passEvents: ["Names of events that are sent at once all the same.", ["quota.exceeded"]]
} as const

const QuietHoursView = Schema.Struct({
  windows: field(
    Schema.Array(
      Schema.Struct({
        days: field(Schema.Array(Schema.Literal(...weekdays)), ...quietWords.days),
        from: field(Schema.String, ...quietWords.from),
        to: field(Schema.String, ...quietWords.to)
      }).annotations({ identifier: "QuietWindow" })
    ),
    quietWords.windows
  ),
  passSeverity: field(Schema.NullOr(Schema.Literal(...passSeverities)), ...quietWords.passSeverity),
  passEvents: field(Schema.Array(Schema.String), ...quietWords.passEvents)
}).annotations({ identifier: "QuietHours" })

const mailWords = {
  tls: [
    "How the connection to the mail server is protected: `implicit` with `smtps://`, else `starttls`, which is required, or `none`.",
    "starttls"
  ],
  user: ["Who logs in at the mail server; null: nobody.", "gateway"],
  from: ["Address that messages come from.", "gateway@example.com"],
  to: ["Addresses that messages go to.", ["oncall@example.com"]]
} as const

const MailView = Schema.Struct({
  tls: field(MailTls, ...mailWords.tls),
  user: field(Schema.NullOr(Schema.String), ...mailWords.user),
  password: field(Schema.NullOr(Schema.String), "Masked; null: there is none.", "…"),
  from: field(Schema.String, ...mailWords.from),
  to: field(Schema.Array(Schema.String), ...mailWords.to)
}).annotations({ identifier: "WebhookMail" })

export const WebhookView = Schema.Struct({
  id: field(Schema.String, "Id of the webhook, in paths of this API.", exampleId),
  url: field(Schema.String, ...words.url),
  events: field(Schema.Array(Schema.String), ...words.events),
  kind: field(WebhookKind, ...words.kind),
  mail: field(Schema.NullOr(MailView), "How messages are sent by mail; null for other kinds."),
  secret: field(
    Schema.NullOr(Schema.String),
    "The key of the signatures; in lists its first 10 characters. Null: it cannot be decrypted with the encryption key in use.",
    "whsec_4f2a8b1c9d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60"
  ),
  enabled: field(Schema.Literal(0, 1), ...words.enabled),
  description: field(Schema.NullOr(Schema.String), ...words.description),
  timeZone: field(Schema.String, ...words.timeZone),
  quietHours: field(Schema.NullOr(QuietHoursView), quietWords.quietHours),
  created_at: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  last_triggered_at: observed(
    Schema.NullOr(Schema.String),
    "When the last attempt was made, ISO 8601; null before the first.",
    exampleTime
  ),
  last_status: observed(
    Schema.NullOr(Schema.Number),
    "HTTP status of the last attempt, 0 when there was no answer; null before the first.",
    200
  ),
  failure_count: observed(
    Schema.Number,
    "Deliveries that failed since the last one that did not. At 10 the webhook is disabled.",
    0
  )
}).annotations({ identifier: "Webhook" })
export type WebhookView = typeof WebhookView.Type

export const DeliveryView = Schema.Struct({
  id: field(Schema.String, "Id of the attempt; it rises with time.", "42"),
  event_id: field(Schema.String, "Id of the event, as in the header `webhook-id`.", exampleId),
  event: field(Schema.String, "Name of the event.", "request.failed"),
  attempt: field(Schema.Number, "Which attempt it was, from 1; after a restart they are counted anew.", 1),
  status: field(Schema.Number, "HTTP status of the answer; 0 when there was none.", 200),
  success: field(Schema.Boolean, "Whether the status was 2xx.", true),
  mayRetry: field(
    Schema.Boolean,
    "Whether the event was given up with this attempt and is kept, so that it can be sent again.",
    false
  ),
  error: field(Schema.NullOr(Schema.String), "Why it failed.", null),
  latency_ms: field(Schema.Number, "Milliseconds until the answer, or until it was given up.", 38),
  created_at: field(Schema.String, "When it was sent, ISO 8601.", exampleTime),
  eventId: field(Schema.String, "The same as `event_id`.", exampleId),
  latencyMs: field(Schema.Number, "The same as `latency_ms`.", 38),
  createdAt: field(Schema.String, "The same as `created_at`.", exampleTime)
}).annotations({ identifier: "WebhookDelivery" })
export type DeliveryView = typeof DeliveryView.Type

const maxEvents = 50

const EventName = Schema.Trim.pipe(
  Schema.minLength(1, { message: () => "must not be empty" }),
  Schema.maxLength(64, { message: () => "must have at most 64 characters" })
)

const EventNames = Schema.Array(EventName).pipe(
  Schema.minItems(1, { message: () => "must name at least one event, or '*' for all" }),
  Schema.maxItems(maxEvents, { message: () => `must name at most ${maxEvents} events` })
)

const WebhookSecret = Schema.Redacted(
  Schema.String.pipe(
    Schema.pattern(/^[\x21-\x7e]{1,256}$/, {
      message: () => "must be 1 to 256 letters, digits or signs without blanks"
    })
  ).annotations({ examples: ["whsec_4f2a8b1c9d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60"] })
)

const Enabled = Schema.Union(Schema.Boolean, Schema.Literal(0, 1)).annotations({
  message: () => ({ message: "must be true or false", override: true })
})

const Description = Schema.String.pipe(
  Schema.maxLength(500, { message: () => "must have at most 500 characters" }),
  Schema.filter((text) => (/[\p{Cc}\p{Bidi_Control}]/u.test(text) ? "must not hold control characters" : true))
)

/**
 * Address of a receiver: of events an http address, of mail the address of a server. Whether it fits the kind is
 * checked with the kind.
 */
const ReceiverUrl = Schema.Trim.pipe(
  Schema.maxLength(2048),
  Schema.filter((text) =>
    URL.canParse(text) && /^(?:https?|smtps?):$/.test(new URL(text).protocol)
      ? true
      : "must be an http or https URL, or smtp or smtps for mail"
  )
)

/** `generic` is another name of `custom`. */
const KindInput = Schema.transform(Schema.Literal(...WebhookKind.literals, "generic"), WebhookKind, {
  strict: true,
  decode: (kind) => (kind === "generic" ? "custom" : kind),
  encode: (kind) => kind
}).annotations({ jsonSchema: { type: "string", enum: [...WebhookKind.literals, "generic"] } })

/** A bare address: nothing in it can end a line of a message's head or name a second receiver. */
const MailAddress = Schema.Trim.pipe(
  Schema.maxLength(254),
  Schema.pattern(/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/, {
    message: () => "must be an address such as name@example.com, without a display name"
  })
)

const MailText = Schema.String.pipe(
  Schema.minLength(1, { message: () => "must not be empty" }),
  Schema.maxLength(256),
  Schema.pattern(/^[^\p{Cc}]*$/u, { message: () => "must not hold control characters" })
)

const maxReceivers = 20

export const MailInput = Schema.Struct({
  tls: field(optional(MailTls), ...mailWords.tls),
  user: field(clearable(MailText), ...mailWords.user),
  password: field(
    clearable(Schema.Redacted(MailText.annotations({ examples: ["a-password-of-the-server"] }))),
    "Password at the mail server; it is stored encrypted and shown masked."
  ),
  from: field(optional(MailAddress), ...mailWords.from),
  to: field(
    optional(
      Schema.Array(MailAddress).pipe(
        Schema.minItems(1, { message: () => "must name at least one address" }),
        Schema.maxItems(maxReceivers, { message: () => `must name at most ${maxReceivers} addresses` })
      )
    ),
    ...mailWords.to
  )
})
export type MailInput = typeof MailInput.Type

const DayTime = Schema.String.pipe(
  Schema.pattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { message: () => "must be a time such as 22:00" })
)

const maxWindows = 14

const QuietWindowInput = Schema.Struct({
  days: field(
    clearable(
      Schema.Array(Schema.Literal(...weekdays)).pipe(
        Schema.minItems(1, { message: () => "must name at least one day" }),
        Schema.maxItems(7, { message: () => "must name at most 7 days" })
      )
    ),
    `${quietWords.days[0]} Null or absent: every day.`,
    quietWords.days[1]
  ),
  from: field(DayTime, ...quietWords.from),
  to: field(DayTime, ...quietWords.to)
})

export const QuietHoursInput = Schema.Struct({
  windows: field(
    Schema.Array(QuietWindowInput).pipe(
      Schema.minItems(1, { message: () => "must have at least one time" }),
      Schema.maxItems(maxWindows, { message: () => `must have at most ${maxWindows} times` })
    ),
    quietWords.windows
  ),
  passSeverity: field(clearable(Schema.Literal(...passSeverities)), ...quietWords.passSeverity),
  passEvents: field(optional(EventName.pipe(Schema.Array, Schema.maxItems(maxEvents))), ...quietWords.passEvents)
})
export type QuietHoursInput = typeof QuietHoursInput.Type

const mailInputWords = "How messages are sent by mail; only for the kind `email`, which needs `from` and `to`."

const secretWords = "The key of the signatures; absent: one is made. Keep it as secret as an API key."

export const CreateWebhook = Schema.Struct({
  url: field(ReceiverUrl, ...words.url),
  events: field(optional(EventNames), ...words.events),
  kind: field(optional(KindInput), ...words.kind),
  mail: field(optional(MailInput), mailInputWords),
  secret: field(optional(WebhookSecret), secretWords),
  enabled: field(optional(Enabled), ...words.enabled),
  description: field(optional(Description), ...words.description),
  timeZone: field(optional(TimeZone), ...words.timeZone),
  quietHours: field(clearable(QuietHoursInput), quietWords.quietHours)
}).annotations(body("CreateWebhook"))
export type CreateWebhook = typeof CreateWebhook.Type

/** Update of a webhook; an absent member stays as it is. */
export const UpdateWebhook = Schema.Struct({
  url: field(optional(ReceiverUrl), ...words.url),
  events: field(optional(EventNames), ...words.events),
  kind: field(optional(KindInput), ...words.kind),
  mail: field(optional(MailInput), mailInputWords),
  secret: field(optional(WebhookSecret), "Another key; it holds from the next attempt on."),
  enabled: field(optional(Enabled), ...words.enabled),
  description: field(clearable(Description), ...words.description),
  timeZone: field(optional(TimeZone), ...words.timeZone),
  quietHours: field(clearable(QuietHoursInput), quietWords.quietHours),
  id: ReadOnly,
  created_at: ReadOnly,
  last_triggered_at: ReadOnly,
  last_status: ReadOnly,
  failure_count: ReadOnly
}).annotations(body("UpdateWebhook"))
export type UpdateWebhook = typeof UpdateWebhook.Type

const One = Schema.Struct({ webhook: field(WebhookView, "The webhook, with its secret.") }).annotations({
  identifier: "WebhookAnswer"
})

export const WebhookTested = Schema.Struct({
  delivered: field(Schema.Boolean, "Whether the receiver answered 2xx.", true),
  status: field(Schema.Number, "The receiver's status; 0 when it did not answer.", 200),
  error: field(Schema.NullOr(Schema.String), "Why it was not delivered.", null)
}).annotations({ identifier: "WebhookTested" })

export const DeliveryQueued = Schema.Struct({
  queued: field(Schema.Literal(true), "Always true.")
}).annotations({ identifier: "WebhookDeliveryQueued" })

const at = endpointsOf("webhooks", {
  id: ["Id of the webhook.", exampleId],
  deliveryId: ["Id of the attempt.", "42"]
})

export class Webhooks extends HttpApiGroup.make("webhooks")
  .annotate(OpenApi.Title, "Webhooks")
  .annotate(OpenApi.Description, "Receivers of events. Every delivery is signed with the webhook's secret.")
  .add(
    at("list", {
      summary: "List webhooks",
      description: "All webhooks with how their deliveries went; secrets are cut off.",
      paged: true
    }).addSuccess(
      Schema.Struct({
        webhooks: field(Schema.Array(WebhookView), "The webhooks of the page."),
        nextCursor,
        total
      }).annotations({ identifier: "WebhookList" })
    )
  )
  .add(
    at("create", {
      summary: "Create a webhook",
      description:
        "Private addresses are refused while `OUTBOUND_SSRF_GUARD_ENABLED` is on, metadata addresses always.",
      example: { url: "https://hooks.example.com/gateway", events: ["request.failed", "provider.error"] }
    })
      .setPayload(CreateWebhook)
      .addSuccess(Created(One))
      .addError(ConflictAnswer)
  )
  .add(
    at("get", { summary: "Show a webhook", description: "The webhook with its whole secret." })
      .addSuccess(One)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change a webhook",
      description:
        "What is absent stays as it is. `enabled: true` sets `failure_count` to 0, and what waited meanwhile is sent.",
      example: { enabled: true }
    })
      .setPayload(UpdateWebhook)
      .addSuccess(One)
      .addError(NotFoundAnswer)
  )
  .add(
    at("remove", { summary: "Delete a webhook", description: "Events that wait for it are dropped." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("test", {
      summary: "Test a webhook",
      description: "Sends one `test.ping`, without retries, also to a webhook that is disabled."
    })
      .addSuccess(WebhookTested)
      .addError(NotFoundAnswer)
  )
  .add(
    at("deliveries", {
      summary: "List attempts of a webhook",
      description: "The last 100 attempts, newest first."
    })
      .addSuccess(
        Schema.Struct({ deliveries: field(Schema.Array(DeliveryView), "The attempts.") }).annotations({
          identifier: "WebhookDeliveries"
        })
      )
      .addError(NotFoundAnswer)
  )
  .add(
    at("retry", {
      summary: "Send an event again",
      description:
        "Of an attempt with `mayRetry`: its event waits again, with the same id, and is tried as often as the first time. To a webhook that is disabled it is sent when that is enabled."
    })
      .addSuccess(Accepted(DeliveryQueued))
      .addError(NotFoundAnswer)
  ) {}
