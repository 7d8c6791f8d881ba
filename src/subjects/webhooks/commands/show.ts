/** `gateway webhook list`, `show`, `deliveries` and `test`. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { WebhookTested, type WebhookView } from "../routes.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { columns, Deliveries, deliveryColumns, findWebhook, OneWebhook, webhook, Webhooks } from "./rows.ts"
import { asking } from "../../../cli/verbs/asking.ts"

export const webhookList = asking("list", "webhooks", {}, function* (client) {
  const answer = yield* client.list()
  yield* Output.list({
    schema: Webhooks,
    value: answer,
    rows: answer.webhooks,
    columns,
    empty: "There are no webhooks yet. Make one with 'gateway webhook add <url>'."
  })
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
    ["Last sent", Output.shortTime(shown.last_triggered_at)],
    ["Last status", shown.last_status === null ? "-" : String(shown.last_status)],
    ["Failures", String(shown.failure_count)],
    ["Created", Output.shortTime(shown.created_at)],
    ["Id", shown.id]
  ])

export const webhookShow = Command.make("show", { webhook, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findWebhook(to, given.webhook)
    const answer = yield* client.get({ path: { id: found.id } }).pipe(Client.orExplain(to))
    yield* Output.result({
      schema: OneWebhook,
      value: answer,
      text: Output.print(page(answer.webhook)),
      name: found.url
    })
  })
)

export const webhookDeliveries = Command.make("deliveries", { webhook, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findWebhook(to, given.webhook)
    const answer = yield* client.deliveries({ path: { id: found.id } }).pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Deliveries,
      value: answer,
      rows: answer.deliveries,
      columns: deliveryColumns,
      empty: "Nothing was sent to it yet. Try it with 'gateway webhook test'."
    })
  })
)

export const webhookTest = Command.make("test", { webhook, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findWebhook(to, given.webhook)
    const answer = yield* client.test({ path: { id: found.id } }).pipe(Client.orExplain(to))
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
)
