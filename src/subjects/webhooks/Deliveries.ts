/**
 * Delivers the events of the outbox. Each enabled webhook has a worker of its own, so that a slow or dead receiver delays only itself. An
 * event leaves the outbox when its delivery is recorded: one that a crash or a stop interrupts is sent again, so that receivers get each event
 * at least once. Of several gateways on one database one delivers all of them: the others tell it of new events, and it also looks for them every few seconds.
 */
import * as Context from "effect/Context"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { Claims } from "../../plane/state/Claims.ts"
import { Replica } from "../../plane/state/Replica.ts"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import { isMessageKind, type Webhook } from "./entity.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import { OutboxRepo, type WaitingEvent } from "./OutboxRepo.ts"
import * as Attempts from "./Attempts.ts"
import { objectOr, parseJson } from "../../wire/json/Json.ts"
import type { Delivered } from "./Message.ts"
import { type Coalescing, makeCoalescing } from "./messages/Coalescing.ts"
import { isForPeople, noticeOf, subjectOf } from "./messages/Notice.ts"
import { Outbox } from "./Outbox.ts"
import { type Holding, makeHolding } from "./quiet/Holding.ts"
import { Sender, type Sent } from "./Sender.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** Counts since the start. */
export interface DeliveryCounts {
  readonly delivered: number
  readonly failed: number
  /** Events dropped because too many waited: not written, or removed from the outbox. */
  readonly dropped: number
}

export class Deliveries extends Context.Tag("gateway/subjects/webhooks/Deliveries")<
  Deliveries,
  {
    /** Takes over changes of webhooks: starts, stops and removes workers. Events of a disabled webhook wait until it is enabled. */
    readonly refresh: Effect.Effect<void, StoreError>
    /** Sends a `test.ping` once, whether the webhook is enabled or not. It is recorded, and does not count as a delivery that failed. */
    readonly ping: (webhook: Webhook) => Effect.Effect<Sent>
    /** Looks whether there is more to send to a webhook. */
    readonly wake: (id: string) => Effect.Effect<void>
    readonly counts: () => DeliveryCounts
  }
>() {}

/** Waits of 1, 2 and 4 seconds before the second, third and fourth attempt. */
export const retries = Schedule.intersect(Schedule.exponential("1 second", 2), Schedule.recurs(3))

/** Events of one webhook that are sent at once, or wait for their next attempt. */
export const window = 8
/** Attempts that run at once, of all webhooks. */
export const maxAttempts = 128
/** Events that wait for one webhook; beyond it the oldest are dropped. */
export const mostWaiting = 10_000
const pageSize = 64

/** Name of the claim on deliveries. */
const claim = "webhooks"
/** Time between looks at whether this process may still send. */
const untilHeldMs = 100
/** Time between looks at what other gateways have written. */
const lookEvery = "5 seconds"
const warnEveryMs = 60_000

interface Worker {
  /** Webhook as it was read last. */
  webhook: Webhook
  /** Open when there may be more to send. */
  readonly more: Effect.Latch
  /** Permits for attempts: a receiver that did not answer in time gets one attempt at a time. */
  readonly attempts: Effect.Semaphore
  isSlow: boolean
  /** Time until which the receiver wants no messages, in epoch milliseconds. */
  pausedUntilMs: number
  readonly coalescing: Coalescing
  readonly holding: Holding
}

const services = Effect.all({ repo: OutboxRepo, outbox: Outbox, sender: Sender, ids: IdGen })
interface State {
  /** The events are this process's to deliver. */
  isHeld: boolean
  delivered: number
  failed: number
  trimmed: number
  warnedAtMs: number
}
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly oneAtATime: Lane
  readonly workers: Map<string, Worker>
  readonly scope: Scope.Scope
  readonly slots: Lane
  readonly record: Attempts.Record
  readonly holds: () => boolean
  readonly running: FiberMap.FiberMap<string>
  readonly state: State
}

const refresh = (deps: Deps) =>
  Effect.suspend(() => Effect.zipRight(deps.outbox.refresh, sync(deps))).pipe(deps.oneAtATime.inTurn)

const disabled = (deps: Deps, found: ReadonlyArray<string>): Effect.Effect<void> => {
  const stopped = found.filter((id) => deps.workers.has(id))
  if (stopped.length === 0) return Effect.void
  const warning = Effect.logWarning(
    `Webhooks were disabled because their deliveries kept failing: ${stopped.join(", ")}. Events that wait for them are sent when they are enabled again.`
  )
  // Not here: what interrupts the workers waits for their deliveries, which wait for this.
  return Effect.asVoid(Effect.forkIn(Effect.zipRight(warning, Effect.ignore(refresh(deps))), deps.scope))
}

/** The event in words, with the names of now. Ids are in the data; names that cannot be read are left out. */
const noticeFor = ({ repo }: Deps, { atMs, data, event }: Delivered, repeats: number) => {
  const fields = objectOr(parseJson(data))
  const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)
  return repo.names(textOf(fields["api_key_id"]), textOf(fields["accountId"] ?? fields["connectionId"])).pipe(
    Effect.orElseSucceed(() => ({ key: null, connection: null })),
    Effect.map((names) => noticeOf({ atMs, event, data: fields }, names, repeats))
  )
}

/** Waits while the receiver takes no more messages. */
const unpaused = (worker: Worker): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    worker.pausedUntilMs > nowMs
      ? Effect.zipRight(
          Effect.sleep(worker.pausedUntilMs - nowMs),
          Effect.suspend(() => unpaused(worker))
        )
      : Effect.void
  )

/** Waits while the deliveries may be another gateway's, as after a stop of this one: it is interrupted where they are. */
const whileHeld = (deps: Deps): Effect.Effect<void> =>
  Effect.suspend(() =>
    deps.holds()
      ? Effect.void
      : Effect.zipRight(
          Effect.sleep(untilHeldMs),
          Effect.suspend(() => whileHeld(deps))
        )
  )

/** One attempt, as soon as a place is free. The webhook may have been changed since the last one. */
const attempt = (deps: Deps, worker: Worker, event: Delivered, repeats: number): Effect.Effect<Sent> =>
  Effect.suspend(() =>
    unpaused(worker).pipe(
      Effect.zipRight(whileHeld(deps)),
      Effect.zipRight(noticeFor(deps, event, repeats)),
      Effect.flatMap((notice) => deps.sender.send(worker.webhook, event, notice)),
      deps.slots.inTurn,
      Effect.tap((sent) =>
        Effect.sync(() => {
          worker.isSlow = sent.timedOut
          if (sent.retryAfterMs !== null) {
            worker.pausedUntilMs = Math.max(worker.pausedUntilMs, sent.atMs + sent.latencyMs + sent.retryAfterMs)
          }
        })
      ),
      worker.attempts.withPermits(worker.isSlow ? window : 1)
    )
  )

/**
 * Counts the events that are reported with this one; null: it is reported with another message, or is none for
 * people.
 */
const repeatsOf = ({ coalescing, webhook }: Worker, event: WaitingEvent): Effect.Effect<number | null> =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => {
    if (!isMessageKind(webhook.kind)) return 0
    const fields = objectOr(parseJson(event.data))
    return isForPeople(event.event, fields) ? coalescing.next(subjectOf(event.event, fields), nowMs) : null
  })

const deliver = (deps: Deps, worker: Worker, event: WaitingEvent): Effect.Effect<void> =>
  Effect.flatMap(repeatsOf(worker, event), (repeats) => {
    if (repeats === null) return Effect.ignore(deps.repo.drop(event.seq))
    const delivery = { id: event.eventId, event: event.event, atMs: event.atMs, data: event.data }
    let attempts = 0
    const facts = { webhookId: event.webhookId, eventId: event.eventId, event: event.event }
    const recorded = (sent: Sent, endsSeq: number | null) =>
      deps.record({ ...facts, ...sent, attempt: attempts, endsSeq })

    const once = Effect.flatMap(attempt(deps, worker, delivery, repeats), (sent) => {
      attempts += 1
      return sent.mayRetry ? Effect.fail(sent) : Effect.succeed(sent)
    })
    return once.pipe(
      Effect.tapError((sent) => (attempts <= 3 ? recorded(sent, null) : Effect.void)),
      Effect.retry(retries),
      Effect.merge,
      Effect.flatMap((sent) => {
        if (sent.success) deps.state.delivered += 1
        else deps.state.failed += 1
        return recorded(sent, event.seq)
      })
    )
  })

const trim = ({ repo, state }: Deps, id: string) =>
  Effect.gen(function* () {
    const removed = yield* repo.trim(id, mostWaiting)
    if (removed === 0) return
    state.trimmed += removed
    const nowMs = yield* Clock.currentTimeMillis
    if (nowMs - state.warnedAtMs < warnEveryMs) return
    state.warnedAtMs = nowMs
    yield* Effect.logWarning(
      `More than ${mostWaiting} events wait for the webhook ${id}; ${removed} of the oldest were dropped.`
    )
  })

const work = (deps: Deps, id: string, worker: Worker) =>
  Effect.gen(function* () {
    const places = yield* Effect.makeSemaphore(window)
    const fibers = yield* FiberSet.make<void>()
    /** Events on their way, and those whose end a page that is being read may not show yet. */
    const taken = new Set<number>()
    let ended: Array<number> = []

    const pageAfter = (seq: number) =>
      Effect.suspend(() => {
        for (const each of ended) taken.delete(each)
        ended = []
        return deps.repo.page(id, seq, pageSize)
      })
    const delivered = (event: WaitingEvent): Effect.Effect<void> =>
      Effect.ensuring(
        deliver(deps, worker, event),
        Effect.suspend(() => {
          ended.push(event.seq)
          return places.release(1)
        })
      )
    const { holding } = worker
    const next = Effect.gen(function* () {
      yield* Effect.raceFirst(worker.more.await, holding.nextLook)
      yield* worker.more.close
      yield* trim(deps, id)
      yield* holding.release(worker.webhook)
      // From the first one on: a transaction that took a lower number may have ended after one with a higher.
      let page = yield* pageAfter(0)
      for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
        const waiting: Array<WaitingEvent> = []
        for (const event of page) {
          if (taken.has(event.seq)) continue
          yield* places.take(1)
          if (yield* holding.waits(worker.webhook, event)) {
            waiting.push(event)
            yield* places.release(1)
            continue
          }
          taken.add(event.seq)
          yield* FiberSet.run(fibers, delivered(event))
        }
        yield* holding.hold(waiting)
        page = yield* pageAfter(last.seq)
      }
    })
    const orWarn = Effect.tapError(next, (error) =>
      Effect.logError(`The outbox of webhooks cannot be read: ${asSentence(error.message)}`)
    )
    yield* Effect.forever(
      Effect.retry(
        Effect.tapError(orWarn, () => worker.more.open),
        Schedule.spaced("1 second")
      )
    )
  }).pipe(Effect.scoped)

/** One worker per enabled webhook. */
const sync = (deps: Deps) =>
  Effect.gen(function* () {
    const wanted = deps.state.isHeld ? deps.outbox.webhooks() : []
    const enabled = new Map(wanted.flatMap((webhook) => (webhook.enabled ? [[webhook.id, webhook]] : [])))
    for (const id of deps.workers.keys()) {
      if (enabled.has(id)) continue
      deps.workers.delete(id)
      yield* FiberMap.remove(deps.running, id)
    }
    for (const [id, webhook] of enabled) {
      const known = deps.workers.get(id)
      if (known !== undefined) {
        known.webhook = webhook
        // Its quiet hours may be over by the change.
        known.more.unsafeOpen()
      } else {
        const more = yield* Effect.makeLatch(true)
        const worker: Worker = {
          webhook,
          more,
          attempts: yield* Effect.makeSemaphore(window),
          isSlow: false,
          pausedUntilMs: 0,
          coalescing: makeCoalescing(),
          holding: makeHolding({
            repo: deps.repo,
            nextId: deps.ids.next,
            noticeFor: (event) => noticeFor(deps, event, 0)
          })
        }
        deps.workers.set(id, worker)
        yield* FiberMap.run(deps.running, id, work(deps, id, worker))
      }
    }
  })

/** Delivers for as long as it is not interrupted. */
const held = (deps: Deps) => {
  const as = (isHeld: boolean) =>
    Effect.suspend(() => {
      deps.state.isHeld = isHeld
      return sync(deps)
    }).pipe(deps.oneAtATime.inTurn)
  return Effect.acquireUseRelease(
    as(true),
    () => Effect.never,
    () => as(false)
  )
}

const ping = Effect.fn("Deliveries.ping")(function* (deps: Deps, webhook: Webhook) {
  const atMs = yield* Clock.currentTimeMillis
  const event = "test.ping"
  const eventId = deps.ids.next(atMs)
  const data = JSON.stringify({ message: "Test of the webhook.", webhookId: webhook.id })
  const delivered = { id: eventId, event, atMs, data }
  const sent = yield* deps.sender.send(webhook, delivered, yield* noticeFor(deps, delivered, 0))
  yield* deps.record({ webhookId: webhook.id, eventId, event, ...sent, attempt: 1, endsSeq: null })
  return sent
})

export const make = Effect.gen(function* () {
  const all = yield* services
  const workers = new Map<string, Worker>()
  const running = yield* FiberMap.make<string>()
  const slots = makeLane(maxAttempts)
  const oneAtATime = makeLane(1)
  const { holds, whileHeld: claimed } = yield* Claims
  const { isShared, shared } = yield* Replica
  const state: State = { isHeld: false, delivered: 0, failed: 0, trimmed: 0, warnedAtMs: Number.NEGATIVE_INFINITY }
  const scope = yield* Effect.scope
  const workings = { ...all, oneAtATime, workers, scope, slots, running, state, holds: () => holds(claim) }
  const record = yield* Attempts.make(all.repo, (found) => disabled(deps, found))
  const deps: Deps = { ...workings, record }

  /** Looks here whether there is more to send, to one webhook or all. */
  const look = (id: string | null): void => {
    for (const worker of workers.values()) if (id === null || worker.webhook.id === id) worker.more.unsafeOpen()
  }
  const lookElsewhere = shared("webhooks.look", look)
  /** Looks in the process that delivers. */
  const wake = (id: string | null): void => (state.isHeld ? look(id) : lookElsewhere(id))
  const stop = all.outbox.onWritten(() => wake(null))
  yield* Effect.addFinalizer(() => Effect.sync(stop))
  yield* Effect.forkScoped(claimed(claim, () => held(deps)))
  if (isShared) {
    yield* Effect.forkScoped(
      Effect.schedule(
        Effect.sync(() => look(null)),
        Schedule.spaced(lookEvery)
      )
    )
  }

  return Deliveries.of({
    refresh: refresh(deps),
    ping: (webhook) => ping(deps, webhook),
    wake: (id) => Effect.sync(() => wake(id)),
    counts: () => ({
      delivered: state.delivered,
      failed: state.failed,
      dropped: state.trimmed + all.outbox.notWritten()
    })
  })
})

export const layer: Layer.Layer<Deliveries, never, IdGen | Outbox | OutboxRepo | Sender> = Layer.scoped(
  Deliveries,
  make
)
