/** `/api/routing`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { NotFound } from "../../api/Errors.ts"
import { DecisionLog } from "../../routing/DecisionLog.ts"

export const layer = HttpApiBuilder.group(GatewayApi, "routing", (handlers) =>
  Effect.gen(function* () {
    const log = yield* DecisionLog
    return handlers.handle("decision", ({ path }) =>
      Effect.suspend(() => {
        const decision = log.get(path.requestId)
        return decision === null
          ? new NotFound({ message: `No decision is kept for the request '${path.requestId}'.`, param: "requestId" })
          : Effect.succeed({ decision })
      })
    )
  })
)
