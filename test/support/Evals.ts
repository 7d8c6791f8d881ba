/** Evaluations over inner requests that a test answers itself. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EvalRunner from "../../src/subjects/evals/EvalRunner.ts"
import { type InnerAnswer, type InnerRequest, InnerRequests } from "../../src/plane/InnerRequests.ts"
import * as StopSignal from "../../src/plane/request/StopSignal.ts"
import * as Resolutions from "../../src/plane/routing/resolve/Resolutions.ts"
import * as EvalScores from "../../src/plane/routing/stats/EvalScores.ts"

export const noAnswer: InnerAnswer = {
  requestId: "inner-1",
  status: 503,
  body: `{"error":{"message":"Nothing is connected."}}`,
  latencyMs: 1,
  retryAfterMs: null,
  tokens: null,
  error: null
}

export const evalsWith = (ask: (request: InnerRequest) => Effect.Effect<InnerAnswer>) =>
  EvalRunner.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(InnerRequests, InnerRequests.of({ ask, relay: () => {}, hear: () => Effect.void })),
        EvalScores.layer,
        StopSignal.layer,
        Resolutions.layer
      )
    )
  )

/** Nothing answers. */
export const evals = evalsWith(() => Effect.succeed(noAnswer))
