/**
 * Brings events into the outbox. The event of a request is written in the transaction that inserts its usage row, so that a crash neither
 * loses nor doubles it; the others are written when the turn in which they were published is over. Where no webhook wants an event, nothing
 * is made of it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Claims } from "../../plane/state/Claims.ts"
import { makeLane } from "../../kernel/Lane.ts"
import { isOfClient, type UsageRow } from "../../contract/domain/Usage.ts"
import { type OutgoingEvent, type Webhook, type WebhookEvent, webhookEvents, wants } from "./entity.ts"
import * as Events from "../../observe/Events.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as OutboxRepo from "./OutboxRepo.ts"
import { WebhookRepo } from "./repo.ts"
import { UsageHook } from "../../store/usage/UsageHook.ts"
import { dataOf, requestEvent, requestEventOf } from "./EventData.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export class Outbox extends Context.Tag("gateway/subjects/webhooks/Outbox")<
  Outbox,
  {
    /** All webhooks, oldest first, as they were when they were last read. */
    readonly webhooks: () => ReadonlyArray<Webhook>
    /** Reads the webhooks again; call it after every change of one. */
    readonly refresh: Effect.Effect<void, StoreError>
    /** Calls `listener` after events were written, until the returned function is called. */
    readonly onWritten: (listener: () => void) => () => void
    /** Events dropped since the start because too many waited to be written. */
    readonly notWritten: () => number
    /** Waits until everything published is written. */
    readonly flush: Effect.Effect<void>
  }
>() {}

/** Events that wait to be written; beyond it the oldest is dropped. */
export const mostUnwritten = 10_000

const isWebhookEvent = (name: string): name is WebhookEvent => webhookEvents.some((event) => event === name)

export const make = Effect.gen(function* () {
  const repo = yield* OutboxRepo.OutboxRepo
  const store = yield* WebhookRepo
  const events = yield* Events.Events
  const ids = yield* IdGen
  const somePublished = yield* Effect.makeLatch(false)
  const oneAtATime = makeLane(1)

  let known: ReadonlyArray<Webhook> = []
  let wanted: ReadonlySet<WebhookEvent> = new Set()
  let listeners: ReadonlyArray<() => void> = []
  let unwritten: Array<OutgoingEvent> = []
  let notWritten = 0

  const refresh = Effect.map(store.list, (all) => {
    known = all
    wanted = new Set(webhookEvents.filter((event) => all.some((webhook) => wants(webhook, event))))
  })
  yield* refresh

  const tell = (): void => {
    for (const listener of listeners) listener()
  }

  const { holds } = yield* Claims
  const stop = events.listen((event) => {
    const { atMs, type } = event
    // Else the owner of the data folder hears of it.
    if (!holds("events")) return
    if (!isWebhookEvent(type) || !wanted.has(type)) return
    unwritten.push({ id: ids.next(atMs), event: type, atMs, data: dataOf(event) })
    if (unwritten.length > mostUnwritten) {
      unwritten.shift()
      notWritten += 1
    }
    somePublished.unsafeOpen()
  })

  const write = Effect.suspend(() => {
    somePublished.unsafeClose()
    const batch = unwritten
    if (batch.length === 0) return Effect.void
    unwritten = []
    return repo.add(batch).pipe(
      Effect.tapError(() =>
        Effect.sync(() => {
          unwritten = [...batch, ...unwritten].slice(-mostUnwritten)
        })
      ),
      Effect.zipRight(Effect.sync(tell))
    )
  }).pipe(oneAtATime.inTurn, Effect.uninterruptible)

  const writeOrWarn = Effect.tapError(write, (error) =>
    Effect.logError(`Events for webhooks wait in memory, ${mostUnwritten} at most: ${asSentence(error.message)}`)
  )
  yield* Effect.addFinalizer(() => Effect.zipRight(Effect.sync(stop), Effect.ignore(writeOrWarn)))
  yield* somePublished.await.pipe(
    Effect.zipRight(Effect.retry(writeOrWarn, Schedule.spaced("1 second"))),
    Effect.forever,
    Effect.forkScoped
  )

  const outgoing = (rows: ReadonlyArray<{ readonly row: UsageRow }>): ReadonlyArray<OutgoingEvent> =>
    rows.flatMap(({ row }) => {
      const event = requestEventOf(row)
      return event !== null && wanted.has(event) && isOfClient(row) ? [requestEvent(event, row)] : []
    })

  let hasWritten = false
  const hook = UsageHook.of({
    statementsFor: (rows) => {
      if (!wanted.has("request.completed") && !wanted.has("request.failed")) return []
      const found = outgoing(rows)
      hasWritten = found.length > 0
      return hasWritten ? [OutboxRepo.addWithUsage(found)] : []
    },
    committed: () => {
      if (hasWritten) tell()
      hasWritten = false
    }
  })

  const outbox = Outbox.of({
    webhooks: () => known,
    refresh,
    onWritten: (listener) => {
      const own = (): void => listener()
      listeners = [...listeners, own]
      return () => {
        listeners = listeners.filter((other) => other !== own)
      }
    },
    notWritten: () => notWritten,
    flush: Effect.ignore(write)
  })
  return Context.make(Outbox, outbox).pipe(Context.add(UsageHook, hook))
})

/** Layer with the hook for the usage journal. */
export const layer: Layer.Layer<
  Outbox | UsageHook,
  StoreError,
  OutboxRepo.OutboxRepo | WebhookRepo | Events.Events | IdGen
> = Layer.scopedContext(make)
