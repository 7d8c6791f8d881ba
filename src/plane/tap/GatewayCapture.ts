/**
 * The switch of the recording of the gateway's own traffic. It is stored; on, the inspector is loaded and what passes goes to it. The owner alone records:
 * workers pass requests on to it while the switch is on.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { LazyInspector, type InspectorServices } from "../../observe/inspector/LazyInspector.ts"
import { claimed } from "../state/Claims.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { SettingsRepo } from "../../subjects/settings/repo.ts"
import * as StoredSettings from "../../store/StoredSettings.ts"
import type { TrafficSink } from "./RecordedExchange.ts"
import { TrafficTap } from "./TrafficTap.ts"

export class GatewayCapture extends Context.Tag("gateway/plane/tap/GatewayCapture")<
  GatewayCapture,
  {
    readonly isEnabled: () => boolean
    /** Saved, and in force for requests that come from now on. */
    readonly setEnabled: (enabled: boolean) => Effect.Effect<boolean, StoreError>
    /** Sink for exchanges that the gateway serves, whether or not the recording of all is on. Loads the inspector. */
    readonly sink: Effect.Effect<TrafficSink>
  }
>() {}

const Patch = Schema.Struct({ enabled: Schema.optional(Schema.Boolean) })

interface Settings {
  readonly enabled: boolean
}

const shape: StoredSettings.SettingsShape<Settings, typeof Patch.Type, typeof Patch.Encoded, (typeof Patch)["fields"]> =
  {
    patch: Patch,
    defaults: { enabled: false },
    merge: (settings, { enabled = settings.enabled }) => ({ enabled })
  }

const place = { namespace: "inspector", key: "gateway", name: "settings of the recording of own traffic" }

export const sinkOf = ({ inspector }: InspectorServices): TrafficSink => inspector

export const make = Effect.gen(function* () {
  const lazyInspector = yield* LazyInspector
  const tap = yield* TrafficTap
  const settings = yield* StoredSettings.make(place, shape)

  const sink = Effect.map(yield* Effect.cached(lazyInspector.get), sinkOf)

  const apply = Effect.fnUntraced(function* (enabled: boolean) {
    yield* lazyInspector.recordOwnTraffic(enabled)
    tap.turn(enabled ? yield* sink : null)
  })

  const setEnabled = Effect.fn("GatewayCapture.setEnabled")(function* (enabled: boolean) {
    yield* settings.patch({ enabled })
    yield* apply(enabled)
    return enabled
  })

  // The start does not wait for the inspector to be loaded.
  if (settings.current().enabled) yield* Effect.forkScoped(claimed("own-traffic", apply(true)))
  yield* Effect.addFinalizer(() => Effect.sync(() => tap.turn(null)))

  return GatewayCapture.of({ isEnabled: () => settings.current().enabled, setEnabled, sink })
})

export const layer: Layer.Layer<GatewayCapture, StoreError, LazyInspector | TrafficTap | SettingsRepo> = Layer.scoped(
  GatewayCapture,
  make
)
