/** A management plane without the way of inference requests: what is asked again there is asked over a whole gateway (test/http/inspector). */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Replay } from "../../src/bridge/Replay.ts"

export const layer = Layer.succeed(Replay, Replay.of({ ask: () => Effect.dieMessage("There is no inference here.") }))
