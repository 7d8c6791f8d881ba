/** A bridge without settings that answers nothing, for tests of the management plane alone. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Bridge } from "../../src/agents/bridge/Bridge.ts"
import { BridgeDoor } from "../../src/agents/bridge/BridgeDoor.ts"
import { initialState } from "../../src/subjects/agentBridge/entity.ts"

const bridge = Bridge.of({
  noticed: () => {},
  answersFor: () => false,
  wantsBody: () => false,
  judge: () => null,
  serve: () => {},
  state: () => Effect.succeed(initialState),
  change: () => Effect.succeed(initialState),
  mappings: () => Effect.succeed([]),
  setMappings: (_, mappings) => Effect.succeed(mappings)
})

export const layer = Layer.succeed(BridgeDoor, { get: Effect.succeed(bridge) })
