/**
 * Events of the gateway, for webhooks and the live feed. Publishing calls the listeners and never waits. Requests are apart from the rest,
 * because there may be thousands of them a second: their event is the usage row, which exists anyway.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { LimitThreshold } from "../subjects/limits/entity.ts"
import type { UsageRow } from "../domain/Usage.ts"

/** Kind of limit that a key has used up. */
export type ExceededQuota = "budget" | "tokens" | "rate"

export type CaptureChange = "started" | "stopped" | "trusted" | "untrusted" | "restored"
/** `server`: the decrypting server of custom hosts and agents; `machine`: whatever the journal of changes had. */
export type CaptureThing = "http-proxy" | "system-proxy" | "server" | "tproxy" | "certificate" | "machine"

export type GatewayEvent =
  /** A provider failed in a way that counts toward its breaker. */
  | {
      readonly type: "provider.error"
      readonly atMs: number
      readonly provider: string
      readonly model: string
      readonly connectionId: string
      readonly status: number
      readonly reason: string
      readonly consecutiveFailures: number
      /** State of the breaker after this failure: `OPEN` means that the provider is skipped from now on. */
      readonly circuitState: "CLOSED" | "DEGRADED" | "OPEN" | "HALF_OPEN"
    }
  /** The probe of an open breaker succeeded. */
  | {
      readonly type: "provider.recovered"
      readonly atMs: number
      readonly provider: string
      /** Milliseconds since the breaker opened; null when that is not known. */
      readonly recoveredAfterMs: number | null
    }
  /**
   * Another target serves a combo from here on, or its own one again (`reason` is `recovered`). Not emitted per
   * request.
   */
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
  /** A key has reached the warning threshold of a limit, or used it up: once each per limit and window. */
  | {
      readonly type: "quota.exceeded"
      readonly atMs: number
      /** The request that was refused, or whose cost reached the threshold. */
      readonly requestId: string
      readonly apiKeyId: string
      readonly quota: ExceededQuota
      readonly threshold: LimitThreshold
      readonly limitId: string
      /** `daily`, `weekly`, `monthly`, or the name of another window. */
      readonly window: string
      /** Epoch milliseconds. */
      readonly windowStartMs: number
      /** `limit` and `used` are USD for a budget, tokens or requests otherwise. */
      readonly limit: number
      readonly used: number
      /** `used` in percent of `limit`. */
      readonly pct: number
    }
  /** A plugin was stopped: it failed too often in a row, or its files were changed. It is not called any more. */
  | {
      readonly type: "plugin.error"
      readonly atMs: number
      readonly plugin: string
      readonly reason: string
      /** True when requests are refused meanwhile. */
      readonly failClosed: boolean
    }
  /** Something that captures traffic, or that was changed on the machine for it. */
  | {
      readonly type: "capture.changed"
      readonly atMs: number
      readonly change: CaptureChange
      readonly what: CaptureThing
      /** True when the gateway did it by itself: a guard's time was over, or a gateway before it had ended without. */
      readonly automatic: boolean
    }
  /** Something needs a person that did not, or not any more (`GET /api/attention`). Found out only while somebody listens. */
  | {
      readonly type: "attention.changed"
      readonly atMs: number
      /** Items that there are now. */
      readonly total: number
      /** Ids of items. */
      readonly added: ReadonlyArray<string>
      readonly removed: ReadonlyArray<string>
    }

export type EventType = GatewayEvent["type"]

export class Events extends Context.Tag("gateway/observe/Events")<
  Events,
  {
    /** Hot. Listeners are called before it returns. */
    readonly publish: (event: GatewayEvent) => void
    /** Hot: notifies listeners of requests that one has ended. */
    readonly ended: (row: UsageRow) => void
    /** Everything published from now on, for as long as the scope lives; of a subscriber that is too slow the oldest events are dropped. */
    readonly subscribe: Effect.Effect<Queue.Dequeue<GatewayEvent>, never, Scope.Scope>
    /** Hot: calls `listener` with each event until the returned function is called. It must neither throw nor take long. */
    readonly listen: (listener: (event: GatewayEvent) => void) => () => void
    /** Says whether anybody wants to know what needs attention. */
    readonly wantAttention: (isWanted: boolean) => void
    readonly isAttentionWanted: () => boolean
    /** Adds a listener, as `listen`, that gets the usage row of each request that ended, in the order they ended. */
    readonly listenToRequests: (listener: (row: UsageRow) => void) => () => void
  }
>() {}

/** Events that wait for a subscriber. */
export const capacity = 1_024

export const make = Effect.sync(() => {
  // Replaced as a whole: a listener may remove itself or another while they are called.
  let listeners: ReadonlyArray<(event: GatewayEvent) => void> = []
  let requestListeners: ReadonlyArray<(row: UsageRow) => void> = []

  const listen: typeof Events.Service.listen = (listener) => {
    const own = (event: GatewayEvent): void => listener(event)
    listeners = [...listeners, own]
    return () => {
      listeners = listeners.filter((other) => other !== own)
    }
  }

  let isAttentionWanted = false

  return Events.of({
    wantAttention: (isWanted) => {
      isAttentionWanted = isWanted
    },
    isAttentionWanted: () => isAttentionWanted,
    publish: (event) => {
      for (const listener of listeners) listener(event)
    },
    ended: (row) => {
      for (const listener of requestListeners) listener(row)
    },
    subscribe: Effect.gen(function* () {
      const queue = yield* Effect.acquireRelease(Queue.sliding<GatewayEvent>(capacity), Queue.shutdown)
      const stop = listen((event) => void queue.unsafeOffer(event))
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      return queue
    }),
    listen,
    listenToRequests: (listener) => {
      const own = (row: UsageRow): void => listener(row)
      requestListeners = [...requestListeners, own]
      return () => {
        requestListeners = requestListeners.filter((other) => other !== own)
      }
    }
  })
})

export const layer: Layer.Layer<Events> = Layer.effect(Events, make)
