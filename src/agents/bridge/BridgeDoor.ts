/** Loads the agent bridge together with capture: without captured connections it has nothing to answer. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CaptureDoor } from "../../observe/capture/CaptureDoor.ts"
import { Bridge } from "./Bridge.ts"

export class BridgeDoor extends Context.Tag("gateway/agents/bridge/BridgeDoor")<
  BridgeDoor,
  { readonly get: Effect.Effect<typeof Bridge.Service> }
>() {}

export const layer: Layer.Layer<BridgeDoor, never, CaptureDoor> = Layer.effect(
  BridgeDoor,
  Effect.map(CaptureDoor, (door) =>
    BridgeDoor.of({ get: Effect.map(door.built, (built) => Context.unsafeGet(built, Bridge)) })
  )
)
