/** Changes of settings that more than their own schema decides about. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RoutingPatch, RoutingSettings as Settings } from "../routingSettings/entity.ts"
import { blockMessage, judgeUrl, requestPolicy } from "../../net/egress/OutboundPolicy.ts"
import { Flags } from "../flags/service.ts"
import { RoutingSettings } from "../../plane/routing/RoutingSettings.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Errors from "../Errors.ts"

export class SettingsChanges extends Context.Tag("gateway/subjects/settings/SettingsChanges")<
  SettingsChanges,
  { readonly routing: (patch: RoutingPatch) => Effect.Effect<Settings, Errors.InvalidInput | StoreError> }
>() {}

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const settings = yield* RoutingSettings

  const routing = Effect.fn("SettingsChanges.routing")(function* (patch: RoutingPatch) {
    const { leaderboardUrl } = patch
    if (typeof leaderboardUrl === "string") {
      // The policy it is fetched under.
      const verdict = judgeUrl(leaderboardUrl, requestPolicy(flags.isOn))
      if (verdict._tag === "Blocked") return yield* Errors.invalid("leaderboardUrl", blockMessage[verdict.reason])
    }
    return yield* settings.patch(patch)
  })

  return SettingsChanges.of({ routing })
})

export const layer: Layer.Layer<SettingsChanges, never, Flags | RoutingSettings> = Layer.effect(SettingsChanges, make)
