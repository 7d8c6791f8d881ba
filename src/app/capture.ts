/** Capture, over the services it works on. Imported dynamically, by its first use. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Bridge from "../agents/bridge/Bridge.ts"
import * as Capture from "../observe/capture/Capture.ts"
import type { CaptureServices } from "../observe/capture/LazyCapture.ts"
import * as CaptureState from "../observe/capture/CaptureState.ts"
import * as HostJournal from "../observe/capture/host/HostJournal.ts"
import * as HostsFile from "../observe/capture/host/HostsFile.ts"
import * as SystemProxy from "../observe/capture/host/SystemProxy.ts"
import * as TrustStore from "../observe/capture/host/TrustStore.ts"
import * as StoredTrust from "../observe/capture/transparent/StoredTrust.ts"
import * as Transparent from "../observe/capture/transparent/Transparent.ts"
import { makeIntercept, makeNeedsHttp1, makeRefusesUpgrade } from "../entry/bridge/Intercept.ts"
import { OpenStreams } from "../entry/listening/OpenStreams.ts"
import * as InnerRequests from "../plane/InnerRequests.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { BodyBudget } from "../plane/resilience/BodyBudget.ts"
import * as BridgeRepo from "../subjects/agentBridge/repo.ts"

const machine = Layer.mergeAll(HostsFile.layer, SystemProxy.layer, TrustStore.layer).pipe(
  Layer.provideMerge(HostJournal.layer)
)

const layer = Capture.layer.pipe(
  Layer.provide(Transparent.layer.pipe(Layer.provide(StoredTrust.layer))),
  Layer.provide(CaptureState.partsLayer),
  Layer.provideMerge(machine),
  Layer.provide(CaptureState.layer)
)

const alone = Effect.orDie(Layer.build(layer))

/** Capture without the bridge, whose requests need the inference routes. */
export const captureAlone = Effect.map(alone, (built): CaptureServices => ({
  capture: Context.get(built, Capture.Capture),
  built: Context.empty()
}))

const bridgeLayer = Bridge.layer.pipe(Layer.provide(Layer.mergeAll(BridgeRepo.layer, InnerRequests.layer)))

export const capture = Effect.gen(function* () {
  const services = yield* captureAlone
  const built = yield* Effect.orDie(Layer.build(bridgeLayer))
  const { maxBodyBytes } = yield* AppConfig
  const interceptServices = {
    bridge: Context.get(built, Bridge.Bridge),
    isBypassed: services.capture.isNeverDecrypted,
    streams: yield* OpenStreams,
    bodies: yield* BodyBudget,
    maxBodyBytes
  }
  services.capture.intercept({
    intercept: makeIntercept(interceptServices),
    refusesUpgrade: makeRefusesUpgrade(interceptServices),
    needsHttp1: makeNeedsHttp1(interceptServices)
  })
  return { ...services, built: built as Context.Context<never> }
})
