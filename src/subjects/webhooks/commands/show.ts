/** `gateway webhook list`, `show`, `deliveries` and `test`. */
import * as Args from "@effect/cli/Args"
import * as Effect from "effect/Effect"
import { DeliveryQueued, WebhookTested, type WebhookView } from "../routes.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { quietText } from "./quiet.ts"
import { columns, Deliveries, deliveryColumns, webhooks, OneWebhook, Webhooks } from "./rows.ts"
import { listOf, on, showOf } from "../../../cli/verbs/noun.ts"

export const webhookList = listOf(webhooks, {
  schema: Webhooks,
  columns,
  empty: "There are no webhooks yet. Make one with 'gateway webhook add <url>'."
})

const page = (shown: WebhookView) =>
  fields([
    ["URL", shown.url],
    ["Events", shown.events.join(", ")],
    ["Kind", shown.kind],
    ...(shown.mail === null
      ? []
      : ([
          ["From", shown.mail.from],
          ["To", shown.mail.to.join(", ")],
          ["User", shown.mail.user ?? "-"],
          ["TLS", shown.mail.tls]
        ] as const)),
    ["Secret", shown.secret ?? "cannot be decrypted; set another"],
    ["Enabled", Output.yesNo(shown.enabled === 1)],
    ["Description", shown.description ?? "-"],
    ["Time zone", shown.timeZone],
    ["Quiet hours", quietText(shown.quietHours)],
    ["Last sent", Output.shortTime(shown.last_triggered_at)],
    ["Last status", shown.last_status === null ? "-" : String(shown.last_status)],
    ["Failures", String(shown.failure_count)],
    ["Created", Output.shortTime(shown.created_at)],
    ["Id", shown.id]
  ])

export const webhookShow = showOf(webhooks, {
  schema: OneWebhook,
  ask: (client, id) => client.get({ path: { id } }),
  text: (answer) => page(answer.webhook)
})

export const webhookDeliveries = on("deliveries", webhooks, {}, function* ({ client, found }) {
  const answer = yield* client.deliveries({ path: { id: found.id } })
  yield* Output.list({
    schema: Deliveries,
    value: answer,
    rows: answer.deliveries,
    columns: deliveryColumns,
    empty: "Nothing was sent to it yet. Try it with 'gateway webhook test'."
  })
})

const delivery = Args.text({ name: "delivery" }).pipe(
  Args.withDescription("Id of the attempt, as 'webhook deliveries -o wide' shows it.")
)

export const webhookRetry = on("retry", webhooks, { delivery }, function* ({ client, found, given }) {
  const answer = yield* client.retry({ path: { id: found.id, deliveryId: given.delivery } })
  yield* Output.result({
    schema: DeliveryQueued,
    value: answer,
    text: Output.note(`The event waits for ${found.url} again.`),
    name: found.url
  })
})

export const webhookTest = on("test", webhooks, {}, function* ({ client, found }) {
  const answer = yield* client.test({ path: { id: found.id } })
  yield* Output.result({
    schema: WebhookTested,
    value: answer,
    text: answer.delivered ? Output.note(`${found.url} answered ${answer.status}.`) : Effect.void,
    name: found.url
  })
  if (!answer.delivered) {
    yield* new CommandFailed({ message: `${found.url}: ${answer.error ?? "The test was not delivered."}` })
  }
})
