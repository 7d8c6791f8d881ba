/**
 * Events of the gateway, for webhooks and the live feed. Publishing calls the listeners and never waits. Requests are apart from the rest,
 * because there may be thousands of them a second: their event is the usage row, which exists anyway.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { AttentionItem } from "../subjects/attention/entity.ts"
import type { SpendReport } from "../subjects/bills/entity.ts"
import type { LimitThreshold } from "../subjects/limits/entity.ts"
import * as Stream from "effect/Stream"
import type { UsageRow } from "../contract/domain/Usage.ts"
import { makeSignal } from "../kernel/collections/Signal.ts"

/** Kind of limit that a key has used up. */
export type ExceededQuota = "budget" | "tokens" | "rate"

export type CaptureChange = "started" | "stopped" | "trusted" | "untrusted" | "restored"
/** `server`: the decrypting server of custom hosts and agents; `machine`: whatever the journal of changes had. */
export type CaptureThing = "http-proxy" | "system-proxy" | "server" | "tproxy" | "certificate" | "machine"

/** Kind of work that goes on in the background. */
export type JobKind = "backup" | "batch" | "evaluation" | "modelList" | "install"

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
  /** Something needs a person that did not, or not any more (`GET /api/attention`). Found out only while there is a listener. */
  | {
      readonly type: "attention.changed"
      readonly atMs: number
      /** Items that there are now. */
      readonly total: number
      /** Ids of items. */
      readonly added: ReadonlyArray<string>
      readonly removed: ReadonlyArray<string>
    }
  /** One of these things, for webhooks: `attention.changed` tells the feed of all of them at once. */
  | {
      readonly type: "attention.raised" | "attention.cleared"
      readonly atMs: number
      /** As it was last seen. */
      readonly item: AttentionItem
    }
  /** A week or a month is over: its figures, for webhooks. */
  | { readonly type: "report.weekly" | "report.monthly"; readonly atMs: number; readonly report: SpendReport }
  /** Something of the configuration was made, changed or removed, by whatever way. */
  | {
      readonly type: "config.changed"
      readonly atMs: number
      /** `connection`, `combo`, `key`, `settings`, … */
      readonly kind: string
      /** Null: no single thing. */
      readonly id: string | null
      /** Rises with every change. */
      readonly version: number
      /** Author, as the audit log names it. */
      readonly by: string
      /** Action, as the audit log names it. */
      readonly action: string
    }
  /** A step of work in the background. */
  | {
      readonly type: "job.changed"
      readonly atMs: number
      readonly kind: JobKind
      readonly id: string
      /** `running`, `completed`, `failed`, `cancelled`; of a batch its status. */
      readonly state: string
      readonly done: number
      /** Null: not known. */
      readonly total: number | null
    }
  | {
      readonly type: "breaker.changed"
      readonly atMs: number
      readonly provider: string
      readonly state: "CLOSED" | "DEGRADED" | "OPEN" | "HALF_OPEN"
      readonly failures: number
    }
  /** The health of a connection: it rests, cannot be used until an operator acts, or is as new. */
  | {
      readonly type: "cooldown.changed"
      readonly atMs: number
      readonly connectionId: string
      readonly status: string
      /** Epoch milliseconds; null: it does not rest. */
      readonly untilMs: number | null
      readonly errorCode: string | null
    }
  /** A model at a connection is locked, or not any more. */
  | {
      readonly type: "lockout.changed"
      readonly atMs: number
      readonly provider: string
      readonly connectionId: string
      readonly model: string
      /** Epoch milliseconds; null: it is not locked. */
      readonly untilMs: number | null
      readonly reason: string | null
    }
  /** A connection was tested. */
  | {
      readonly type: "connection.tested"
      readonly atMs: number
      readonly connectionId: string
      readonly ok: boolean
      readonly status: number | null
      readonly latencyMs: number
    }

export type EventType = GatewayEvent["type"]

export class Events extends Context.Tag("gateway/observe/Events")<
  Events,
  {
    /** Hot. Listeners are called before it returns. */
    readonly publish: (event: GatewayEvent) => void
    /** Hot: notifies listeners of requests that one has ended. */
    readonly ended: (row: UsageRow) => void
    /** Tells of a change of the configuration, with the version that it is. */
    readonly configChanged: (
      atMs: number,
      change: Pick<Extract<GatewayEvent, { readonly type: "config.changed" }>, "kind" | "id" | "by" | "action">
    ) => void
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
  const { listen, tell: publish } = makeSignal<GatewayEvent>()
  const { listen: listenToRequests, tell: ended } = makeSignal<UsageRow>()

  let isAttentionWanted = false
  /** Rises with each change, also over restarts. */
  let version = 0

  return Events.of({
    configChanged: (atMs, { action, by, id, kind }) => {
      version = Math.max(version + 1, Math.trunc(atMs))
      publish({ type: "config.changed", atMs, kind, id, version, by, action })
    },
    wantAttention: (isWanted) => {
      isAttentionWanted = isWanted
    },
    isAttentionWanted: () => isAttentionWanted,
    publish,
    ended,
    subscribe: Effect.gen(function* () {
      const queue = yield* Effect.acquireRelease(Queue.sliding<GatewayEvent>(capacity), Queue.shutdown)
      const stop = listen((event) => void queue.unsafeOffer(event))
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      return queue
    }),
    listen,
    listenToRequests
  })
})

const tellingOf =
  (publish: typeof Events.Service.publish, { id, kind }: { readonly kind: JobKind; readonly id: string }) =>
  (state: "running" | "completed" | "failed" | "cancelled"): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (atMs) =>
      publish({ type: "job.changed", atMs, kind, id, state, done: state === "completed" ? 1 : 0, total: 1 })
    )

/** The end of announced work. */
const endOf = <A, E>(exit: Exit.Exit<A, E>, isDone: (result: A) => boolean): "completed" | "failed" | "cancelled" => {
  if (Exit.isInterrupted(exit)) return "cancelled"
  return Exit.isSuccess(exit) && isDone(exit.value) ? "completed" : "failed"
}

/** Announces work in the background: when it begins, and how it ends. `isDone`: a result that is none is a failure; absent: every result is one. */
export const announced = <A, E, R>(
  { publish }: Pick<typeof Events.Service, "publish">,
  job: { readonly kind: JobKind; readonly id: string },
  work: Effect.Effect<A, E, R>,
  isDone: (result: A) => boolean = () => true
): Effect.Effect<A, E, R> => {
  const tell = tellingOf(publish, job)
  return Effect.zipRight(
    tell("running"),
    Effect.onExit(work, (exit) => tell(endOf(exit, isDone)))
  )
}

/** The same of work that is a stream of its steps. */
export const announcedStream = <A, E, R>(
  { publish }: Pick<typeof Events.Service, "publish">,
  job: { readonly kind: JobKind; readonly id: string },
  work: Stream.Stream<A, E, R>
): Stream.Stream<A, E, R> => {
  const tell = tellingOf(publish, job)
  return Stream.unwrap(Effect.as(tell("running"), work)).pipe(
    Stream.ensuringWith((exit) => tell(endOf(exit, () => true)))
  )
}

export const layer: Layer.Layer<Events> = Layer.effect(Events, make)
