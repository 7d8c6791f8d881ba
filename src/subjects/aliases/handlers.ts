/** `/api/models/alias`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { ModelAliases as ModelAliasesGroup } from "./routes.ts"
import { ModelAliases } from "./service.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"

export const layer = HttpApiBuilder.group(contractOf(ModelAliasesGroup), "modelAliases", (handlers) =>
  Effect.map(ModelAliases, (aliases) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(answered(aliases.list), (all) => paged(all, ({ alias }) => alias)),
          ({ items, nextCursor, total }) => ({ aliases: items, nextCursor, total })
        )
      )
      .handle("set", ({ payload }) =>
        answered(Effect.map(aliases.set(payload), ({ alias, model }) => ({ success: true as const, model, alias })))
      )
      .handle("remove", ({ payload, urlParams }) => {
        const alias = urlParams.alias ?? payload?.alias
        return alias === undefined
          ? badField("alias", "is missing")
          : answered(Effect.as(aliases.remove(alias), { success: true as const, alias }))
      })
  )
)
