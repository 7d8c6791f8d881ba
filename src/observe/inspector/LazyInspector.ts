/**
 * Loads and builds the traffic inspector by its first use: a gateway that captures nothing has neither its code nor its memory, timers or
 * thread. It lives as long as this service's scope.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as BuiltOnce from "../../platform/BuiltOnce.ts"
import type { CacheWatch } from "./CacheWatch.ts"
import type { HandedIn } from "./Ingest.ts"
import type { Inspector } from "./Inspector.ts"
import type { Views } from "./Views.ts"

export interface InspectorServices {
  readonly inspector: typeof Inspector.Service
  readonly cacheWatch: typeof CacheWatch.Service
  readonly views: Views
  /** A record that was captured elsewhere. */
  readonly handIn: (record: HandedIn) => Effect.Effect<void>
}

export class LazyInspector extends Context.Tag("gateway/observe/inspector/LazyInspector")<
  LazyInspector,
  {
    /** Loads and builds it by the first use; a defect where that fails. */
    readonly get: Effect.Effect<InspectorServices>
    /** Hot: null until it is built. */
    readonly current: () => InspectorServices | null
    /** Hot: tells whether the gateway's own traffic is recorded. Off at every start. */
    readonly recordsOwnTraffic: () => boolean
    /** Turned on, the inspector is built before the first request is recorded. */
    readonly recordOwnTraffic: (on: boolean) => Effect.Effect<void>
  }
>() {}

/** Loads what builds the inspector; `R` is what it works on. */
export type LoadInspector<R> = BuiltOnce.Load<InspectorServices, R>

const make = Effect.fnUntraced(function* <R>(load: LoadInspector<R>) {
  const { current, get } = yield* BuiltOnce.make(load)
  let isRecording = false

  return LazyInspector.of({
    get,
    current,
    recordsOwnTraffic: () => isRecording,
    recordOwnTraffic: (on) =>
      Effect.zipRight(
        on ? get : Effect.void,
        Effect.sync(() => {
          isRecording = on
        })
      )
  })
})

export const layer = <R>(load: LoadInspector<R>): Layer.Layer<LazyInspector, never, Exclude<R, Scope.Scope>> =>
  Layer.scoped(LazyInspector, make(load)) as Layer.Layer<LazyInspector, never, Exclude<R, Scope.Scope>>
