/** `/api/settings/feature-flags`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import * as Flags from "../../flags/Flags.ts"
import { badField } from "./Support.ts"

const isActive = (flag: Flags.FlagState): boolean =>
  flag.type === "boolean" ? Flags.isEnabled(flag.effectiveValue) : flag.effectiveValue !== flag.defaultValue

const summaryOf = (flags: ReadonlyArray<Flags.FlagState>) => {
  const count = (test: (flag: Flags.FlagState) => boolean): number => flags.filter(test).length
  return {
    total: flags.length,
    active: count(isActive),
    inactive: count((flag) => !isActive(flag)),
    overriddenByDb: count((flag) => flag.source === "db"),
    overriddenByEnv: count((flag) => flag.source === "env")
  }
}

export const layer = HttpApiBuilder.group(GatewayApi, "flags", (handlers) =>
  Effect.gen(function* () {
    const flags = yield* Flags.Flags
    return handlers
      .handle("list", () => Effect.map(flags.list, (all) => ({ flags: all, summary: summaryOf(all) })))
      .handle("set", ({ payload }) =>
        Effect.catchTags(
          payload.value === undefined ? flags.unset(payload.key) : flags.set(payload.key, payload.value),
          {
            UnknownFlag: ({ key }) => badField("key", `there is no flag '${key}'`),
            InvalidFlagValue: ({ allowed }) => badField("value", `must be one of: ${allowed.join(", ")}`)
          }
        )
      )
      .handle("clear", () =>
        Effect.map(flags.clear, (cleared) => ({
          cleared,
          message: cleared === 1 ? "1 override was removed." : `${cleared} overrides were removed.`
        }))
      )
  })
)
