/** `/api/usage/logs`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { UsageRepo } from "../../store/repo/UsageRepo.ts"
import { stored } from "./Support.ts"
import { usageLog } from "./Views.ts"

const defaultLimit = 50

export const layer = HttpApiBuilder.group(GatewayApi, "usage", (handlers) =>
  Effect.gen(function* () {
    const repo = yield* UsageRepo
    return handlers.handle("logs", ({ urlParams }) =>
      repo.page({ limit: urlParams.limit ?? defaultLimit, cursor: urlParams.cursor ?? null }).pipe(
        Effect.map(({ nextCursor, rows }) => ({ logs: rows.map(usageLog), nextCursor })),
        stored
      )
    )
  })
)
