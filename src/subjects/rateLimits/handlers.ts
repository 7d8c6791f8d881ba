/** `/api/rate-limits` and `/api/rate-limit`: the state of every account, and the settings common to all. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { RateLimits } from "./routes.ts"
import { Resilience } from "../resilience/service.ts"
import { countStandings } from "../connections/Standings.ts"
import { Settings } from "../../plane/resilience/Settings.ts"
import { asJson, listAnswer } from "../../entry/handling/Lists.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { accountStatus, lockoutView } from "../resilience/ResilienceViews.ts"

export const layer = HttpApiBuilder.group(contractOf(RateLimits), "rateLimits", (handlers) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const resilience = yield* Resilience
    return handlers
      .handle("status", () =>
        Effect.gen(function* () {
          const accounts = yield* resilience.accounts
          const lockouts = yield* resilience.lockouts
          const { items, nextCursor, total } = yield* paged(accounts, ({ connection }) => connection.id)
          return yield* listAnswer("connections", { items, nextCursor, total }, asJson(accountStatus), {
            overview: countStandings(accounts.map(({ standing }) => standing)),
            lockouts: lockouts.map(lockoutView)
          })
        })
      )
      .handle("settings", () => Effect.sync(settings.current))
  })
)
