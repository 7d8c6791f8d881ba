/** `/api/resilience`: settings, breakers, locked models, and their resets. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Resilience as ResilienceGroup } from "./routes.ts"
import type { Cleared } from "./routes.ts"
import { Resilience } from "./service.ts"
import { Settings } from "../../plane/resilience/Settings.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { breakerView, lockoutView } from "./ResilienceViews.ts"

const cleared =
  (all: boolean | undefined) =>
  (count: number): Cleared =>
    all === true ? { ok: true, clearedAll: count } : { ok: true, removed: count }

export const layer = HttpApiBuilder.group(contractOf(ResilienceGroup), "resilience", (handlers) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const resilience = yield* Resilience
    return handlers
      .handle("get", () => Effect.sync(settings.current))
      .handle("update", ({ payload }) => answered(settings.patch(payload)))
      .handle("breakers", () =>
        Effect.map(
          Effect.flatMap(resilience.breakers, (all) => paged(all, ({ provider }) => provider)),
          ({ items, nextCursor, total }) => ({ breakers: items.map(breakerView), nextCursor, total })
        )
      )
      .handle("reset", ({ payload }) =>
        answered(
          Effect.map(resilience.resetBreakers(payload?.provider ?? null), (reset) => ({ ok: true as const, reset }))
        )
      )
      .handle("modelCooldowns", () =>
        Effect.map(
          Effect.flatMap(resilience.lockouts, (all) =>
            paged(all, ({ connectionId, model }) => `${connectionId}/${model}`)
          ),
          ({ items, nextCursor, total }) => ({ items: items.map(lockoutView), nextCursor, total })
        )
      )
      .handle("clearModelCooldowns", ({ payload }) =>
        answered(Effect.map(resilience.clearLockouts(payload), cleared(payload.all)))
      )
      .handle("clearCooldowns", ({ payload }) =>
        answered(Effect.map(resilience.clearCooldowns(payload), cleared(payload.all)))
      )
  })
)
