/** `/api/resilience`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { Settings } from "../../resilience/Settings.ts"
import { stored } from "./Support.ts"

export const layer = HttpApiBuilder.group(GatewayApi, "resilience", (handlers) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    return handlers
      .handle("get", () => Effect.sync(settings.current))
      .handle("update", ({ payload }) => stored(settings.patch(payload)))
  })
)
