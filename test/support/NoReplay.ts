/**
 * A management plane without the way of inference requests, where nothing was captured: what is asked again is asked over a whole gateway
 * (test/http/inspector).
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DirectReplay } from "../../src/agents/bridge/DirectReplay.ts"
import { Replay } from "../../src/agents/bridge/Replay.ts"
import { RecordNotFound } from "../../src/observe/inspector/Inspector.ts"

export const layer = Layer.merge(
  Layer.succeed(DirectReplay, DirectReplay.of({ ask: (id) => Effect.fail(new RecordNotFound({ id })) })),
  Layer.succeed(Replay, Replay.of({ ask: (id) => Effect.fail(new RecordNotFound({ id })) }))
)
