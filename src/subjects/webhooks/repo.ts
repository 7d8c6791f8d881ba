/** Webhooks. Their secrets are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type MailSettings, MailTls, passSeverities, type Webhook, weekdays, WebhookKind } from "./entity.ts"
import { Flag, Json, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import { SecretText, sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Records from "../../store/engine/Records.ts"
import * as Table from "../../store/engine/Table.ts"

/** Settings that are changed by hand; deliveries write the rest. */
export interface WebhookSettings extends Pick<
  Webhook,
  "url" | "events" | "kind" | "mail" | "enabled" | "description" | "timeZone" | "quietHours"
> {
  /** Null: stays as it is. */
  readonly secret: Webhook["secret"]
  /** Null: stays as it is. */
  readonly failureCount: number | null
}

export class WebhookRepo extends Context.Tag("gateway/subjects/webhooks/WebhookRepo")<
  WebhookRepo,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Webhook>, StoreError>
    readonly get: (id: string) => Effect.Effect<Webhook | null, StoreError>
    readonly insert: (webhook: Webhook) => Effect.Effect<void, StoreError | AlreadyStored>
    /** False when there is no such id. */
    readonly update: (id: string, settings: WebhookSettings) => Effect.Effect<boolean, StoreError>
    /** Removes a webhook with its waiting events and its attempts; false when there is no such id. */
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const QuietHoursText = Schema.Struct({
  windows: Schema.Array(
    Schema.Struct({ days: Schema.Array(Schema.Literal(...weekdays)), from: Schema.String, to: Schema.String })
  ),
  passSeverity: Schema.NullOr(Schema.Literal(...passSeverities)),
  passEvents: Schema.Array(Schema.String)
})

const Row = Schema.Struct({
  id: Text,
  url: Text,
  events: Json(Schema.Array(Text)),
  kind: WebhookKind,
  mail: MaybeText,
  secret: MaybeText,
  enabled: Flag,
  description: MaybeText,
  timeZone: Text,
  quietHours: Schema.NullOr(Json(QuietHoursText)),
  createdAtMs: Whole,
  lastTriggeredAtMs: MaybeWhole,
  lastStatus: MaybeWhole,
  failureCount: Whole
})
type Row = typeof Row.Type

const MailText: Schema.Schema<MailSettings, string> = Schema.parseJson(
  Schema.Struct({
    tls: MailTls,
    user: Schema.NullOr(Schema.String),
    password: Schema.NullOr(SecretText),
    from: Schema.String,
    to: Schema.Array(Schema.String)
  })
)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const secret = sealedColumn(secrets, "webhooks", "secret", SecretText)

  const mail = sealedColumn(secrets, "webhooks", "mail", MailText)

  const toWebhook = (row: Row): Webhook => ({
    ...row,
    secret: secret.open(row.id, row.secret).value,
    mail: mail.open(row.id, row.mail).value
  })

  const { get, insert, list } = Records.mapped<Row, typeof Row.Encoded, Webhook, Webhook>(
    sql,
    { name: "WebhookRepo", table: "webhooks", row: Row },
    {
      read: toWebhook,
      write: (webhook) => ({
        ...webhook,
        secret: secret.seal(webhook.id, webhook.secret),
        mail: mail.seal(webhook.id, webhook.mail)
      }),
      isPlain: true
    }
  )
  const update = Effect.fn("WebhookRepo.update")((id: string, settings: WebhookSettings) =>
    sql`UPDATE webhooks SET ${sql.update({
      url: settings.url,
      events: JSON.stringify(settings.events),
      kind: settings.kind,
      ...(settings.mail === null && settings.kind === "email" ? {} : { mail: mail.seal(id, settings.mail) }),
      enabled: settings.enabled ? 1 : 0,
      description: settings.description,
      timeZone: settings.timeZone,
      quietHours: settings.quietHours === null ? null : JSON.stringify(settings.quietHours),
      ...(settings.failureCount === null ? {} : { failureCount: settings.failureCount }),
      ...(settings.secret === null ? {} : { secret: secret.seal(id, settings.secret) })
    })} WHERE id = ${id} RETURNING 1`.pipe(
      Effect.mapBoth({ onFailure: Table.named("WebhookRepo.update"), onSuccess: (hits) => hits.length > 0 })
    )
  )
  const remove = Effect.fn("WebhookRepo.remove")((id: string) =>
    Effect.gen(function* () {
      yield* sql`DELETE FROM webhook_outbox WHERE webhook_id = ${id}`
      yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${id}`
      return (yield* sql`DELETE FROM webhooks WHERE id = ${id} RETURNING 1`).length > 0
    }).pipe(sql.withTransaction, Effect.mapError(Table.named("WebhookRepo.remove")))
  )
  return WebhookRepo.of({ list, get, insert, update, remove })
})

export const layer: Layer.Layer<WebhookRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(WebhookRepo, make)
