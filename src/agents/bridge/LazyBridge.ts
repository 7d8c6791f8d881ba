/** Loads the agent bridge together with capture: without captured connections it has nothing to answer. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LazyCapture } from "../../observe/capture/LazyCapture.ts"
import { Bridge } from "./Bridge.ts"

export class LazyBridge extends Context.Tag("gateway/agents/bridge/LazyBridge")<
  LazyBridge,
  { readonly get: Effect.Effect<typeof Bridge.Service> }
>() {}

export const layer: Layer.Layer<LazyBridge, never, LazyCapture> = Layer.effect(
  LazyBridge,
  Effect.map(LazyCapture, (lazyCapture) =>
    LazyBridge.of({ get: Effect.map(lazyCapture.built, (built) => Context.unsafeGet(built, Bridge)) })
  )
)
