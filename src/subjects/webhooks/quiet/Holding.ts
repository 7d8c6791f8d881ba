/**
 * Holds the events of a webhook in its quiet hours, and puts one that tells of all in their place when the hours are over. What is held is marked in the
 * outbox, so that a restart, or another gateway that delivers from then on, goes on with it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { StoreError } from "../../../store/Errors.ts"
import { objectOr, parseJson } from "../../../wire/json/Json.ts"
import { isMessageKind, type Webhook } from "../entity.ts"
import type { Delivered } from "../Message.ts"
import { isForPeople, type Notice } from "../messages/Notice.ts"
import type { OutboxRepo, WaitingEvent } from "../OutboxRepo.ts"
import { digestOf, gather, namedOf, nothingHeld } from "./Digest.ts"
import { isQuietAt, passes, untilNextMinuteMs } from "./Hours.ts"

interface Services {
  readonly repo: typeof OutboxRepo.Service
  readonly nextId: (nowMs: number) => string
  readonly noticeFor: (event: Delivered) => Effect.Effect<Notice>
}

export interface Holding {
  /** Decides, in the moment in which an event would be sent, whether it waits. */
  readonly waits: (webhook: Webhook, event: WaitingEvent) => Effect.Effect<boolean>
  /** Marks events that wait. */
  readonly hold: (events: ReadonlyArray<WaitingEvent>) => Effect.Effect<void, StoreError>
  /** Puts the digest in the place of what was held, once the webhook's quiet hours are over. */
  readonly release: (webhook: Webhook) => Effect.Effect<void, StoreError>
  /** Ends at the next beginning of a minute; never where nothing is held. */
  readonly nextLook: Effect.Effect<void>
}

const rowsOfPage = 500

const isHeldBack = (webhook: Webhook, { data, event, held }: WaitingEvent, nowMs: number): boolean => {
  if (held !== null || webhook.quietHours === null || !isQuietAt(webhook, nowMs)) return false
  const fields = objectOr(parseJson(data))
  // What is no message for people is left out at any hour.
  return !passes(webhook.quietHours, event, fields) && (!isMessageKind(webhook.kind) || isForPeople(event, fields))
}

export const makeHolding = ({ nextId, noticeFor, repo }: Services): Holding => {
  /** Some may be there from an earlier run. */
  let mayHold = true

  const gathered = Effect.fnUntraced(function* (webhookId: string) {
    const all = nothingHeld()
    let lastSeq = 0
    let page = yield* repo.heldPage(webhookId, lastSeq, rowsOfPage)
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      for (const each of page) gather(all, each)
      lastSeq = last.seq
      page = yield* repo.heldPage(webhookId, lastSeq, rowsOfPage)
    }
    return { all, lastSeq }
  })

  const release = Effect.fn("Holding.release")(function* (webhook: Webhook) {
    const nowMs = yield* Clock.currentTimeMillis
    if (!mayHold || isQuietAt(webhook, nowMs)) return
    const { all, lastSeq } = yield* gathered(webhook.id)
    if (all.total > 0) {
      const notices = yield* Effect.forEach(namedOf(all), ({ last }) => noticeFor({ ...last, id: last.eventId }))
      const texts = notices.map(({ headline }) => headline)
      yield* repo.digest(webhook.id, lastSeq, digestOf(nextId(nowMs), nowMs, all, texts))
    }
    mayHold = false
  })

  return {
    waits: (webhook, event) =>
      webhook.quietHours === null
        ? Effect.succeed(false)
        : Effect.map(Clock.currentTimeMillis, (nowMs) => isHeldBack(webhook, event, nowMs)),
    hold: (events) =>
      Effect.suspend(() => {
        if (events.length === 0) return Effect.void
        mayHold = true
        return repo.hold(events.map(({ seq }) => seq))
      }),
    release,
    nextLook: Effect.suspend(() =>
      mayHold
        ? Effect.flatMap(Clock.currentTimeMillis, (nowMs) => Effect.sleep(untilNextMinuteMs(nowMs)))
        : Effect.never
    )
  }
}
