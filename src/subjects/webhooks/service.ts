/** Receivers of events. A change holds from the next attempt on; a webhook that is removed takes the events that wait for it along. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { randomBytes, randomUUID } from "node:crypto"
import { makeLane } from "../../kernel/Lane.ts"
import type { CreateWebhook, UpdateWebhook } from "./routes.ts"
import { defaultTimeZone, type DeliveryAttempt, everyEvent, type Webhook } from "./entity.ts"
import { Mail } from "../../net/egress/Mail.ts"
import { type BlockReason, blockMessage } from "../../net/egress/OutboundPolicy.ts"
import { PublicFetch } from "../../net/egress/PublicFetch.ts"
import type { StoreError } from "../../store/Errors.ts"
import { OutboxRepo } from "./OutboxRepo.ts"
import { WebhookRepo } from "./repo.ts"
import { Deliveries } from "./Deliveries.ts"
import type { Sent } from "./Sender.ts"
import { isMailAddress, serverOf } from "./MailAddress.ts"
import * as Errors from "../Errors.ts"
import { mailOf, mailProblem, quietHoursOf } from "./rules.ts"

type Missing = Errors.EntityNotFound | StoreError

export class Webhooks extends Context.Tag("gateway/subjects/webhooks/Webhooks")<
  Webhooks,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Webhook>, StoreError>
    readonly get: (id: string) => Effect.Effect<Webhook, Missing>
    readonly create: (
      input: CreateWebhook
    ) => Effect.Effect<Webhook, Errors.InvalidInput | Errors.StateConflict | StoreError>
    readonly update: (id: string, input: UpdateWebhook) => Effect.Effect<Webhook, Errors.InvalidInput | Missing>
    readonly remove: (id: string) => Effect.Effect<void, Missing>
    readonly test: (id: string) => Effect.Effect<Sent, Missing>
    /** The last attempts, newest first. */
    readonly deliveries: (id: string) => Effect.Effect<ReadonlyArray<DeliveryAttempt>, Missing>
    /** Sends the event of an attempt that was given up again. */
    readonly retry: (id: string, attemptId: string) => Effect.Effect<void, Missing>
  }
>() {}

/** Each has a worker and a share of the outbox. */
export const maxWebhooks = 100

const isPrivate: ReadonlySet<BlockReason> = new Set(["private", "unroutable", "metadata"])

const sentence = (reason: BlockReason): string => {
  const message = blockMessage[reason]
  return isPrivate.has(reason)
    ? `${message} Webhooks go to public addresses only; OUTBOUND_SSRF_GUARD_ENABLED=false allows private ones, metadata addresses never.`
    : message
}

/** Members that depend on no others, after a change. */
const changedPlain = (before: Webhook, input: UpdateWebhook) => ({
  events: input.events ?? before.events,
  description: input.description === undefined ? before.description : input.description,
  timeZone: input.timeZone ?? before.timeZone,
  quietHours: input.quietHours === undefined ? before.quietHours : quietHoursOf(input.quietHours)
})

const newSecret = Effect.sync(() => Redacted.make(`whsec_${randomBytes(24).toString("hex")}`))

export const make = Effect.gen(function* () {
  const repo = yield* WebhookRepo
  const outbox = yield* OutboxRepo
  const deliveries = yield* Deliveries
  const { check } = yield* PublicFetch
  const mail = yield* Mail
  // A change is read, checked and written without another one in between.
  const oneAtATime = makeLane(1).inTurn

  const find = Effect.fnUntraced(function* (id: string) {
    return (yield* repo.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "webhook", id }))
  })

  const checkUrl = Effect.fnUntraced(function* (url: string) {
    const server = isMailAddress(url) ? serverOf(url) : null
    const reason = server === null ? yield* check(url) : yield* mail.check(server)
    if (reason !== null) return yield* Errors.invalid("url", sentence(reason))
  })

  const create = Effect.fn("Webhooks.create")(function* (input: CreateWebhook) {
    const kind = input.kind ?? "custom"
    const mailSettings = mailOf(input.url, input.mail ?? {}, null)
    yield* Errors.refuseOne(mailProblem({ kind, url: input.url, given: input.mail ?? null, mail: mailSettings }))
    yield* checkUrl(input.url)
    if ((yield* repo.list).length >= maxWebhooks) return yield* Errors.tooMany(maxWebhooks, "webhooks")
    const webhook: Webhook = {
      id: randomUUID(),
      url: input.url,
      events: input.events ?? [everyEvent],
      kind,
      mail: kind === "email" ? mailSettings : null,
      secret: input.secret ?? (yield* newSecret),
      enabled: Boolean(input.enabled ?? true),
      description: input.description ?? null,
      timeZone: input.timeZone ?? defaultTimeZone,
      quietHours: quietHoursOf(input.quietHours ?? null),
      createdAtMs: yield* Clock.currentTimeMillis,
      lastTriggeredAtMs: null,
      lastStatus: null,
      failureCount: 0
    }
    yield* Effect.catchTag(repo.insert(webhook), "AlreadyStored", (error) => Effect.die(error))
    yield* deliveries.refresh
    return webhook
  }, oneAtATime)

  const update = Effect.fn("Webhooks.update")(function* (id: string, input: UpdateWebhook) {
    const before = yield* find(id)
    const kind = input.kind ?? before.kind
    const url = input.url ?? before.url
    const isElsewhere = url !== before.url
    if (isElsewhere && before.mail?.password != null && input.mail?.password === undefined) {
      return yield* Errors.invalid(
        "mail.password",
        "is needed with another mail server: the kept one stays with its server"
      )
    }
    const mailSettings = mailOf(url, input.mail ?? {}, before.mail)
    yield* Errors.refuseOne(mailProblem({ kind, url, given: input.mail ?? null, mail: mailSettings }))
    if (isElsewhere) yield* checkUrl(url)
    const enabled = input.enabled === undefined ? before.enabled : Boolean(input.enabled)
    const isEnabledAgain = enabled && input.enabled !== undefined
    yield* repo.update(id, {
      ...changedPlain(before, input),
      url,
      kind,
      // What cannot be decrypted stays as it is, unless it is set anew.
      mail: kind === "email" && (before.mail !== null || input.mail !== undefined) ? mailSettings : null,
      secret: input.secret ?? null,
      enabled,
      failureCount: isEnabledAgain ? 0 : null
    })
    yield* deliveries.refresh
    return yield* find(id)
  }, oneAtATime)

  const remove = Effect.fn("Webhooks.remove")(function* (id: string) {
    if (!(yield* repo.remove(id))) return yield* new Errors.EntityNotFound({ entity: "webhook", id })
    yield* deliveries.refresh
  }, oneAtATime)

  const retry = Effect.fn("Webhooks.retry")(function* (id: string, attemptId: string) {
    yield* find(id)
    const isPutBack = /^\d{1,15}$/.test(attemptId) && (yield* outbox.again(id, Number(attemptId)))
    if (!isPutBack)
      return yield* new Errors.EntityNotFound({ entity: "delivery that can be sent again", id: attemptId })
    yield* deliveries.wake(id)
  })

  return Webhooks.of({
    list: repo.list,
    get: Effect.fn("Webhooks.get")(find),
    create,
    update,
    remove,
    test: Effect.fn("Webhooks.test")((id: string) => Effect.flatMap(find(id), deliveries.ping)),
    deliveries: Effect.fn("Webhooks.deliveries")((id: string) => Effect.zipRight(find(id), outbox.attempts(id))),
    retry
  })
})

export const layer: Layer.Layer<Webhooks, never, WebhookRepo | OutboxRepo | Deliveries | Mail | PublicFetch> =
  Layer.effect(Webhooks, make)
