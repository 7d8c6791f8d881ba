/**
 * Subscriptions of persons to their own requests: each gets the ends of requests whose key was the person's when the request came, and nothing else. Without a
 * subscription no request is looked at.
 */
import type { ApiKey } from "../../subjects/keys/entity.ts"
import type * as Events from "../../observe/Events.ts"
import { nanoUsdPerUsd, type UsageRow } from "../../contract/domain/Usage.ts"
import { type Channel, eventFrame, type LiveEvent } from "./Channels.ts"
import type { LiveClient } from "./LiveClient.ts"
import { makeSampler, type Sampler } from "./Sampler.ts"

/** The one channel of such a listener. */
export const ownChannel: Channel = "requests"

interface OwnServices {
  readonly events: Pick<typeof Events.Events.Service, "listenToRequests">
  readonly keyOf: (id: string) => ApiKey | null
}

/** Checks whether a request is of a key that belonged to the person when it came. */
export const isOf = (userId: string, row: Pick<UsageRow, "timestampMs">, key: ApiKey | null): boolean =>
  key !== null && key.userId === userId && row.timestampMs >= (key.ownedSinceMs ?? Number.NEGATIVE_INFINITY)

/** The end of a request, without the gateway's connections and the words of providers' errors. */
export const ownEvent = (row: UsageRow): LiveEvent => ({
  channel: ownChannel,
  event: `request.${row.outcome}`,
  atMs: row.timestampMs + row.latencyMs,
  data: {
    trace_id: row.requestId,
    api_key_id: row.apiKeyId,
    requested_model: row.requestedModel,
    status: row.status,
    tokens_in: row.tokens.in,
    tokens_out: row.tokens.out,
    cost_usd: row.costNanoUsd / nanoUsdPerUsd,
    latencyMs: row.latencyMs,
    streamed: row.streamed
  }
})

interface Person {
  readonly userId: string
  readonly sampler: Sampler
}

export class OwnListeners {
  readonly #people = new Map<LiveClient, Person>()
  readonly #services: OwnServices
  #stop: (() => void) | null = null

  constructor(services: OwnServices) {
    this.#services = services
  }

  /** Number of places that a person has taken; of null all. */
  count(userId: string | null): number {
    if (userId === null) return this.#people.size
    return [...this.#people.values()].filter((person) => person.userId === userId).length
  }

  add(client: LiveClient, userId: string): void {
    this.#people.set(client, { userId, sampler: makeSampler() })
    this.#stop ??= this.#services.events.listenToRequests((row) => this.#tell(row))
  }

  remove(client: LiveClient): void {
    this.#people.delete(client)
    if (this.#people.size > 0) return
    this.#stop?.()
    this.#stop = null
  }

  /** A second is over: events that were held back are told by one for each kind. */
  turn(): void {
    for (const [client, { sampler }] of this.#people) {
      for (const { event, sampled } of sampler.turn()) this.#send(client, event, sampled)
    }
  }

  #tell(row: UsageRow): void {
    const key = row.apiKeyId === null ? null : this.#services.keyOf(row.apiKeyId)
    for (const [client, { sampler, userId }] of this.#people) {
      if (!isOf(userId, row, key)) continue
      if (sampler.admit(ownChannel, row.outcome, () => ownEvent(row))) this.#send(client, ownEvent(row))
    }
  }

  #send(client: LiveClient, event: LiveEvent, sampled?: number): void {
    if (client.wanted().has(event.channel)) client.send(eventFrame(event, sampled))
  }
}
