/** Settings of the routing engine that hold for every request: shape, defaults, and how a patch is merged. */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"

const words = {
  freeTierStrict: [
    "Makes `:free` in an `auto` id strict: without a free target the request fails instead of using another.",
    false
  ],
  lkgpEnabled: ["Whether `lkgp` starts with the target that answered last; otherwise it works like `priority`.", true],
  leaderboardUrl: ["Where task fitness is fetched from while the leaderboard flag is on; null: nowhere.", null]
} as const

export const RoutingSettings = Schema.Struct({
  freeTierStrict: field(Schema.Boolean, ...words.freeTierStrict),
  lkgpEnabled: field(Schema.Boolean, ...words.lkgpEnabled),
  leaderboardUrl: field(Schema.NullOr(Schema.String), ...words.leaderboardUrl)
}).annotations({ identifier: "RoutingSettings" })
export type RoutingSettings = typeof RoutingSettings.Type

const leave = { exact: true, nullable: true } as const

const HttpsUrl = Schema.Trim.pipe(
  Schema.maxLength(2048),
  Schema.filter((text) => (URL.canParse(text) && new URL(text).protocol === "https:" ? true : "must be an https URL"))
)

/** Any part of the settings. Null leaves a switch as it is, and clears the address. */
export const RoutingPatch = Schema.Struct({
  freeTierStrict: field(Schema.optionalWith(Schema.Boolean, leave), ...words.freeTierStrict),
  lkgpEnabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.lkgpEnabled),
  leaderboardUrl: field(Schema.optionalWith(Schema.NullOr(HttpsUrl), { exact: true }), ...words.leaderboardUrl)
})
export type RoutingPatch = typeof RoutingPatch.Type

export const defaultRouting: RoutingSettings = { freeTierStrict: false, lkgpEnabled: true, leaderboardUrl: null }

export const mergeRouting = (settings: RoutingSettings, patch: RoutingPatch): RoutingSettings => ({
  ...settings,
  ...patch
})
