/** `/api/settings/routing`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { RoutingSettings as RoutingSettingsGroup } from "../../contract/Groups/RoutingSettings.ts"
import { SettingsChanges } from "../../subjects/management/SettingsChanges.ts"
import { RoutingSettings } from "../../plane/routing/RoutingSettings.ts"
import { answered } from "./Answers.ts"

export const layer = HttpApiBuilder.group(contractOf(RoutingSettingsGroup), "routingSettings", (handlers) =>
  Effect.gen(function* () {
    const changes = yield* SettingsChanges
    const settings = yield* RoutingSettings
    return handlers
      .handle("get", () => Effect.sync(settings.current))
      .handle("update", ({ payload }) => answered(changes.routing(payload)))
  })
)
