/** `/api/providers`: connections, their test, their models, and the check of a key. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import { contractOf } from "../../contract/GroupContract.ts"
import { Providers } from "./routes.ts"
import { Flags } from "../flags/service.ts"
import { Connections } from "./service.ts"
import type { ObservedConnection } from "./ObservedState.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { connectionView } from "../../entry/handling/Views.ts"

const viewed = (observed: ObservedConnection, showKey?: (key: string) => string) =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => ({ connection: connectionView(observed, nowMs, showKey) }))

export const layer = HttpApiBuilder.group(contractOf(Providers), "providers", (handlers) =>
  Effect.gen(function* () {
    const connections = yield* Connections
    const flags = yield* Flags
    const shown = (observed: ObservedConnection) =>
      viewed(observed, flags.isOn("ALLOW_API_KEY_REVEAL") ? identity : undefined)
    const viewedMasked = (observed: ObservedConnection) => viewed(observed)
    return handlers
      .handle("list", () =>
        Effect.zipWith(
          Effect.flatMap(connections.list, (all) => paged(all, ({ connection }) => connection.id)),
          Clock.currentTimeMillis,
          ({ items, nextCursor }, nowMs) => ({
            connections: items.map((observed) => connectionView(observed, nowMs)),
            nextCursor
          })
        )
      )
      .handle("get", ({ path }) => answered(Effect.flatMap(connections.get(path.id), shown)))
      .handle("create", ({ payload }) => answered(Effect.flatMap(connections.create(payload), viewedMasked)))
      .handle("update", ({ path, payload }) =>
        answered(Effect.flatMap(connections.update(path.id, payload), viewedMasked))
      )
      .handle("remove", ({ path }) => answered(connections.remove(path.id)))
      .handle("test", ({ path, payload }) => answered(connections.test(path.id, payload?.model ?? null)))
      .handle("models", ({ path }) =>
        Effect.flatMap(answered(connections.models(path.id)), ({ error, models }) =>
          Effect.map(
            paged(models, ({ id }) => id),
            ({ items, nextCursor }) => ({ models: items, error, nextCursor })
          )
        )
      )
      .handle("validate", ({ payload }) => answered(connections.validateKey(payload)))
  })
)
