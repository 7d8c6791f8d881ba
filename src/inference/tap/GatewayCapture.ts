/** The switch of the recording of the gateway's own traffic. It is stored; on, the inspector is loaded and what passes goes to it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { InspectorDoor, type InspectorServices } from "../../inspector/InspectorDoor.ts"
import type { CallFacts } from "../../inspector/CacheWatch.ts"
import { bufferOf, limitsOf, threadFromBytes } from "../../inspector/Intake.ts"
import { maskText } from "../../inspector/masking/Masking.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { SettingsRepo } from "../../store/repo/SettingsRepo.ts"
import * as StoredSettings from "../../store/StoredSettings.ts"
import type { TrafficSink } from "./RecordedExchange.ts"
import type { SentCall } from "./SentCall.ts"
import { TrafficTap } from "./TrafficTap.ts"

export class GatewayCapture extends Context.Tag("gateway/inference/tap/GatewayCapture")<
  GatewayCapture,
  {
    readonly isEnabled: () => boolean
    /** Saved, and in force for requests that come from now on. */
    readonly setEnabled: (enabled: boolean) => Effect.Effect<boolean, StoreError>
    /** Where exchanges that the gateway serves are recorded, whether or not the recording of all is on. Loads the inspector. */
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

/** Records go to the inspector, what was sent to the finder of cache breaks: masked as the records are, for it keeps parts of it. */
export const sinkOf = ({ cacheWatch, inspector }: InspectorServices): TrafficSink => {
  const { maskSecrets } = inspector.settings
  const limits = limitsOf(inspector.settings)

  const masked = (body: Buffer | string): Buffer => {
    if (!maskSecrets) return typeof body === "string" ? Buffer.from(body) : body
    return Buffer.from(maskText(typeof body === "string" ? body : body.toString()))
  }

  const maskedInThread = async (body: Buffer | string): Promise<Buffer | null> => {
    const bytes = typeof body === "string" ? Buffer.from(body) : body
    const captured = { bytes, size: bytes.length, contentEncoding: "", contentType: "application/json" }
    const request = { host: "", path: "", userAgent: "", body: captured }
    const report = await inspector.thread().run({ kind: "task", task: { request, response: null, limits } })
    const shown = report?.request?.shown ?? null
    return shown === null || shown.isTruncated ? null : bufferOf(shown)
  }

  /** Before the record is finished: then the finder reads it. */
  const noted = (id: string, { account, body, model, provider, wire }: SentCall, over: () => void): void => {
    const note = (own: Uint8Array | null): void => {
      const sent: CallFacts["sent"] = own === null ? null : { wire, body: own }
      cacheWatch.note(id, { provider, model, account, sent })
      over()
    }
    if (body === null) note(null)
    else if (body.length <= threadFromBytes) note(masked(body))
    else void maskedInThread(body).then(note, () => note(null))
  }

  return {
    begin: inspector.begin,
    update: inspector.update,
    attribute: inspector.attribute,
    finish: (id, end, sent) => {
      if (sent === null) inspector.finish(id, end)
      else noted(id, sent, () => inspector.finish(id, end))
    }
  }
}

export const make = Effect.gen(function* () {
  const door = yield* InspectorDoor
  const tap = yield* TrafficTap
  const settings = yield* StoredSettings.make(place, shape)

  const sink = Effect.map(yield* Effect.cached(door.get), sinkOf)

  const apply = Effect.fnUntraced(function* (enabled: boolean) {
    yield* door.recordOwnTraffic(enabled)
    tap.turn(enabled ? yield* sink : null)
  })

  const setEnabled = Effect.fn("GatewayCapture.setEnabled")(function* (enabled: boolean) {
    yield* settings.patch({ enabled })
    yield* apply(enabled)
    return enabled
  })

  // The start does not wait for the inspector to be loaded.
  if (settings.current().enabled) yield* Effect.forkScoped(apply(true))
  yield* Effect.addFinalizer(() => Effect.sync(() => tap.turn(null)))

  return GatewayCapture.of({ isEnabled: () => settings.current().enabled, setEnabled, sink })
})

export const layer: Layer.Layer<GatewayCapture, StoreError, InspectorDoor | TrafficTap | SettingsRepo> = Layer.scoped(
  GatewayCapture,
  make
)
