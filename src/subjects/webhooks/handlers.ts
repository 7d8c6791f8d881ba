/** `/api/webhooks`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { Webhooks as WebhooksGroup } from "./routes.ts"
import type { DeliveryView, WebhookView } from "./routes.ts"
import type { DeliveryAttempt, MailSettings, Webhook } from "./entity.ts"
import { Webhooks } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { iso, isoOrNull } from "../../entry/handling/Views.ts"

/** Characters of a secret that lists show. */
const shownChars = 10

const masked = (secret: string): string => `${secret.slice(0, shownChars)}…`
const whole = (secret: string): string => secret

const mailView = ({ from, password, tls, to, user }: MailSettings) => ({
  tls,
  user,
  password: password === null ? null : "…",
  from,
  to
})

const viewOf =
  (shown: (secret: string) => string) =>
  (webhook: Webhook): WebhookView => ({
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    kind: webhook.kind,
    mail: webhook.mail === null ? null : mailView(webhook.mail),
    secret: webhook.secret === null ? null : shown(Redacted.value(webhook.secret)),
    enabled: webhook.enabled ? 1 : 0,
    description: webhook.description,
    timeZone: webhook.timeZone,
    quietHours: webhook.quietHours,
    created_at: iso(webhook.createdAtMs),
    last_triggered_at: isoOrNull(webhook.lastTriggeredAtMs),
    last_status: webhook.lastStatus,
    failure_count: webhook.failureCount
  })

const detail = (webhook: Webhook) => ({ webhook: viewOf(whole)(webhook) })

const deliveryView = (attempt: DeliveryAttempt): DeliveryView => ({
  id: String(attempt.id),
  event_id: attempt.eventId,
  event: attempt.event,
  attempt: attempt.attempt,
  status: attempt.status,
  success: attempt.success,
  error: attempt.error,
  mayRetry: attempt.mayRetry,
  latency_ms: attempt.latencyMs,
  created_at: iso(attempt.atMs),
  eventId: attempt.eventId,
  latencyMs: attempt.latencyMs,
  createdAt: iso(attempt.atMs)
})

export const layer = HttpApiBuilder.group(contractOf(WebhooksGroup), "webhooks", (handlers) =>
  Effect.map(Webhooks, (webhooks) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(answered(webhooks.list), (all) => paged(all, ({ id }) => id)),
          ({ items, nextCursor, total }) => ({ webhooks: items.map(viewOf(masked)), nextCursor, total })
        )
      )
      .handle("create", ({ payload }) => answered(Effect.map(webhooks.create(payload), detail)))
      .handle("get", ({ path }) => answered(Effect.map(webhooks.get(path.id), detail)))
      .handle("update", ({ path, payload }) => answered(Effect.map(webhooks.update(path.id, payload), detail)))
      .handle("remove", ({ path }) => answered(webhooks.remove(path.id)))
      .handle("test", ({ path }) =>
        answered(
          Effect.map(webhooks.test(path.id), ({ error, status, success }) => ({ delivered: success, status, error }))
        )
      )
      .handle("deliveries", ({ path }) =>
        answered(Effect.map(webhooks.deliveries(path.id), (attempts) => ({ deliveries: attempts.map(deliveryView) })))
      )
      .handle("retry", ({ path }) =>
        answered(Effect.as(webhooks.retry(path.id, path.deliveryId), { queued: true as const }))
      )
  )
)
