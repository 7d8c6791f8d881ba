/** Webhooks and their attempts as tables, and how one is found. */
import * as Effect from "effect/Effect"
import * as Args from "@effect/cli/Args"
import * as Schema from "effect/Schema"
import { DeliveryView, WebhookView } from "../routes.ts"
import * as Column from "../../../cli/output/Column.ts"
import { noun } from "../../../cli/verbs/noun.ts"

export const Webhooks = Schema.Struct({ webhooks: Schema.Array(WebhookView) })
export const OneWebhook = Schema.Struct({ webhook: WebhookView })
export const Deliveries = Schema.Struct({ deliveries: Schema.Array(DeliveryView) })

export const columns: ReadonlyArray<Column.Column<WebhookView>> = [
  Column.name("URL", ({ url }) => url),
  Column.text("EVENTS", ({ events }) => events.join(", ")),
  Column.yesNo("ENABLED", ({ enabled }) => enabled === 1),
  Column.number("STATUS", ({ last_status }) => last_status),
  Column.time("LAST SENT", ({ last_triggered_at }) => last_triggered_at),
  Column.number("FAILURES", ({ failure_count }) => failure_count),
  Column.text("KIND", ({ kind }) => kind, { in: "wide" }),
  Column.prose("DESCRIPTION", ({ description }) => description),
  Column.id("ID", ({ id }) => id)
]

export const deliveryColumns: ReadonlyArray<Column.Column<DeliveryView>> = [
  Column.time("SENT", ({ created_at }) => created_at),
  Column.text("EVENT", ({ event }) => event),
  Column.number("ATTEMPT", ({ attempt }) => attempt),
  Column.number("STATUS", ({ status }) => status),
  Column.yesNo("OK", ({ success }) => success),
  Column.number("MS", ({ latency_ms }) => latency_ms),
  Column.prose("ERROR", ({ error }) => error),
  Column.id("EVENT ID", ({ event_id }) => event_id, { in: "wide" }),
  Column.id("ID", ({ id }) => id, { in: "wide" }),
  Column.yesNo("RETRY", ({ mayRetry }) => mayRetry, { in: "wide" })
]

export const webhook = Args.text({ name: "webhook" }).pipe(
  Args.withDescription("Its address, its id or the beginning of it.")
)

export const webhooks = noun({
  what: "webhook",
  group: "webhooks",
  argument: webhook,
  listing: "gateway webhook list",
  list: (client) => client.list(),
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.webhook),
  rows: (answer) => answer.webhooks,
  nameOf: ({ url }) => url
})

/**
 * Selects those with an address that another one should not have: webhooks of one mail server may send to different
 * people.
 */
export const rivalsOf = (webhooks: ReadonlyArray<WebhookView>) =>
  webhooks.filter(({ kind }) => kind !== "email").map(({ id, url }) => ({ id, name: url }))
