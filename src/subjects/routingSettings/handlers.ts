/** `/api/settings/routing`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { RoutingSettings as RoutingSettingsGroup } from "./routes.ts"
import { SettingsChanges } from "../settings/service.ts"
import { RoutingSettings } from "../../plane/routing/RoutingSettings.ts"
import { answered } from "../../entry/handling/Answers.ts"

export const layer = HttpApiBuilder.group(contractOf(RoutingSettingsGroup), "routingSettings", (handlers) =>
  Effect.gen(function* () {
    const changes = yield* SettingsChanges
    const settings = yield* RoutingSettings
    return handlers
      .handle("get", () => Effect.sync(settings.current))
      .handle("update", ({ payload }) => answered(changes.routing(payload)))
  })
)
