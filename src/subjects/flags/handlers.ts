/** `/api/settings/feature-flags`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Flags as FlagsGroup } from "./routes.ts"
import { Conflict } from "../../contract/Errors.ts"
import * as Flags from "./service.ts"
import { badField } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"

const tooOpen = ({ host }: Flags.OpenToOthers): Conflict =>
  new Conflict({
    message: `The gateway listens on ${host}, which others can reach, so keys stay required. Listen on 127.0.0.1, or start it with --allow-keyless if anyone who can reach it may use your accounts.`,
    param: "REQUIRE_API_KEY"
  })

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

export const layer = HttpApiBuilder.group(contractOf(FlagsGroup), "flags", (handlers) =>
  Effect.gen(function* () {
    const flags = yield* Flags.Flags
    return handlers
      .handle("list", () =>
        Effect.flatMap(flags.list, (all) =>
          Effect.map(
            paged(all, ({ key }) => key),
            ({ items, nextCursor, total }) => ({ flags: items, summary: summaryOf(all), nextCursor, total })
          )
        )
      )
      .handle("set", ({ payload }) =>
        Effect.catchTags(
          payload.value === undefined ? flags.unset(payload.key) : flags.set(payload.key, payload.value),
          {
            UnknownFlag: ({ key }) => badField("key", `there is no flag '${key}'`),
            OpenToOthers: tooOpen,
            FlagRefused: ({ key, reason }) =>
              new Conflict({
                message: `${key} cannot be switched on. ${reason}`,
                code: "flag_refused",
                param: "value"
              }),
            InvalidFlagValue: ({ allowed }) => badField("value", `must be one of: ${allowed.join(", ")}`)
          }
        )
      )
      .handle("clear", () =>
        flags.clear.pipe(
          Effect.map((cleared) => ({
            cleared,
            message: cleared === 1 ? "1 override was removed." : `${cleared} overrides were removed.`
          })),
          Effect.catchTag("OpenToOthers", tooOpen)
        )
      )
  })
)
