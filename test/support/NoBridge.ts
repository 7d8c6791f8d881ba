/** A bridge without settings that answers nothing, for tests of the management plane alone. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Bridge } from "../../src/agents/bridge/Bridge.ts"
import { LazyBridge } from "../../src/agents/bridge/LazyBridge.ts"
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

export const layer = Layer.succeed(LazyBridge, { get: Effect.succeed(bridge) })
