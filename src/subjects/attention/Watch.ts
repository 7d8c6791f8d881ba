/**
 * Tells what has come to need a person and what does not any more: to the live feed as ids, to webhooks one by one. It is gathered every few seconds, and
 * only while one of them wants to know.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { GatewayEvent } from "../../observe/Events.ts"
import type { AttentionItem } from "./entity.ts"

export const lookEvery = "5 seconds"

interface Watched<E> {
  readonly list: Effect.Effect<ReadonlyArray<AttentionItem>, E>
  /** A subscriber of the live feed wants to know. */
  readonly isFeedHeard: () => boolean
  /** A webhook of this process does. */
  readonly isWebhookThere: () => boolean
  readonly publish: (event: GatewayEvent) => void
}

type Items = ReadonlyMap<string, AttentionItem>

const without = (items: Items, others: Items): ReadonlyArray<AttentionItem> =>
  [...items.values()].filter(({ id }) => !others.has(id))

const eventsOf = (atMs: number, before: Items, now: Items, isWebhookThere: boolean): ReadonlyArray<GatewayEvent> => {
  const raised = without(now, before)
  const cleared = without(before, now)
  if (raised.length + cleared.length === 0) return []
  const ids = (items: ReadonlyArray<AttentionItem>): ReadonlyArray<string> => items.map(({ id }) => id)
  return [
    { type: "attention.changed", atMs, total: now.size, added: ids(raised), removed: ids(cleared) },
    ...(isWebhookThere ? raised.map((item) => ({ type: "attention.raised", atMs, item }) as const) : []),
    ...(isWebhookThere ? cleared.map((item) => ({ type: "attention.cleared", atMs, item }) as const) : [])
  ]
}

/** Watches until it is interrupted. What there was at the first look after a time without listeners is not told. */
export const watch = <E>({ isFeedHeard, isWebhookThere, list, publish }: Watched<E>): Effect.Effect<void> => {
  let before: Items | null = null
  let isFailing = false
  const look = Effect.gen(function* () {
    if (!isFeedHeard() && !isWebhookThere()) {
      before = null
      return
    }
    const now: Items = new Map((yield* list).map((item) => [item.id, item]))
    isFailing = false
    const known = before
    before = now
    if (known === null) return
    const atMs = yield* Clock.currentTimeMillis
    for (const event of eventsOf(atMs, known, now, isWebhookThere())) publish(event)
  })
  return look.pipe(
    // The database may be away for long: that is said once.
    Effect.catchAllCause((cause) => {
      if (isFailing) return Effect.void
      isFailing = true
      return Effect.logWarning("What needs attention could not be gathered", cause)
    }),
    Effect.repeat(Schedule.spaced(lookEvery)),
    Effect.asVoid
  )
}
