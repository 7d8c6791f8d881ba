/** Capture, over the services it works on. Imported dynamically, by its first use. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Capture from "../capture/Capture.ts"
import type { CaptureServices } from "../capture/CaptureDoor.ts"
import * as CaptureState from "../capture/CaptureState.ts"
import * as HostJournal from "../capture/host/HostJournal.ts"
import * as HostsFile from "../capture/host/HostsFile.ts"
import * as SystemProxy from "../capture/host/SystemProxy.ts"
import * as TrustStore from "../capture/host/TrustStore.ts"
import * as StoredTrust from "../capture/transparent/StoredTrust.ts"
import * as Transparent from "../capture/transparent/Transparent.ts"

const machine = Layer.mergeAll(HostsFile.layer, SystemProxy.layer, TrustStore.layer).pipe(
  Layer.provideMerge(HostJournal.layer)
)

const layer = Capture.layer.pipe(
  Layer.provide(Transparent.layer.pipe(Layer.provide(StoredTrust.layer))),
  Layer.provide(CaptureState.partsLayer),
  Layer.provideMerge(machine),
  Layer.provide(CaptureState.layer)
)

export const capture = Effect.map(Effect.orDie(Layer.build(layer)), (built): CaptureServices => ({
  capture: Context.get(built, Capture.Capture),
  journal: Context.get(built, HostJournal.HostJournal)
}))
