/**
 * Events for webhooks and plugins: a bounded hub. Publishing never waits; a subscriber that is too slow misses the oldest events.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

export type GatewayEvent =
  /** A provider failed in a way that counts toward its breaker. */
  | {
      readonly type: "provider.error"
      readonly atMs: number
      readonly provider: string
      readonly status: number
      readonly reason: string
      readonly consecutiveFailures: number
      /** State of the breaker after this failure: `OPEN` means that the provider is skipped from now on. */
      readonly circuitState: "CLOSED" | "DEGRADED" | "OPEN" | "HALF_OPEN"
    }
  /** The probe of an open breaker succeeded. */
  | { readonly type: "provider.recovered"; readonly atMs: number; readonly provider: string }
  /** A combo was answered by another target than the first one tried. */
  | {
      readonly type: "combo.switched"
      readonly atMs: number
      readonly requestId: string
      readonly combo: string
      /** `provider/model` */
      readonly from: string
      readonly to: string
      readonly reason: string
    }

export class Events extends Context.Tag("gateway/events/Events")<
  Events,
  {
    /** Hot. */
    readonly publish: (event: GatewayEvent) => void
    /** Everything published from now on, for as long as the scope lives. */
    readonly subscribe: Effect.Effect<Queue.Dequeue<GatewayEvent>, never, Scope.Scope>
  }
>() {}

export const capacity = 1_024

export const make = Effect.gen(function* () {
  const hub = yield* PubSub.sliding<GatewayEvent>(capacity)
  return Events.of({ publish: (event) => void hub.unsafeOffer(event), subscribe: PubSub.subscribe(hub) })
})

export const layer: Layer.Layer<Events> = Layer.effect(Events, make)
