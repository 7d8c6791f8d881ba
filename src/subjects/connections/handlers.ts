/** `/api/providers`: connections, their test, their models, and the check of a key. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import { contractOf } from "../../contract/GroupContract.ts"
import { connectionListing, Providers } from "./routes.ts"
import { Flags } from "../flags/service.ts"
import * as Errors from "../Errors.ts"
import { Connections } from "./service.ts"
import { ProviderNodes } from "../nodes/service.ts"
import { healthAt, standingOf } from "./Standings.ts"
import type { ObservedConnection } from "./ObservedState.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { asJson, listAnswer, listed, type ListOf } from "../../entry/handling/Lists.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { connectionView, healthView } from "../../entry/handling/Views.ts"

const viewed = (observed: ObservedConnection, showKey?: (key: string) => string) =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => ({ connection: connectionView(observed, nowMs, showKey) }))

const listOf = (nowMs: number): ListOf<ObservedConnection, typeof connectionListing> => ({
  listing: connectionListing,
  idOf: ({ connection }) => connection.id,
  texts: ({ connection: { baseUrl, id, models, name, provider } }) => [name, id, provider, baseUrl, ...models],
  sorts: {
    name: ({ connection }) => connection.name,
    provider: ({ connection }) => connection.provider,
    priority: ({ connection }) => connection.priority,
    testStatus: ({ health }) => health.testStatus,
    createdAt: ({ connection }) => connection.createdAtMs,
    updatedAt: ({ connection }) => connection.updatedAtMs
  },
  filters: {
    state: ({ connection, health }, state) => standingOf(connection, health, nowMs) === state,
    provider: ({ connection }, provider) => connection.provider === provider
  }
})

const summaryOf = ({ connection, health }: ObservedConnection, nowMs: number) => {
  const { authType, id, isActive, name, priority, provider, source } = connection
  const { rateLimitedUntil, testStatus } = healthView(healthAt(health, nowMs))
  return { id, provider, name, authType, isActive, priority, testStatus, rateLimitedUntil, source }
}

export const layer = HttpApiBuilder.group(contractOf(Providers), "providers", (handlers) =>
  Effect.gen(function* () {
    const connections = yield* Connections
    const flags = yield* Flags
    const nodes = yield* ProviderNodes
    const shown = (observed: ObservedConnection) =>
      viewed(observed, flags.isOn("ALLOW_API_KEY_REVEAL") ? identity : undefined)
    const viewedMasked = (observed: ObservedConnection) => viewed(observed)
    return handlers
      .handle("list", () =>
        Effect.gen(function* () {
          const nowMs = yield* Clock.currentTimeMillis
          const page = yield* listed(yield* connections.list, listOf(nowMs))
          const view = (observed: ObservedConnection) => connectionView(observed, nowMs)
          const summary = (observed: ObservedConnection) => summaryOf(observed, nowMs)
          return yield* listAnswer("connections", page, asJson(page.isSummary ? summary : view))
        })
      )
      .handle("get", ({ path }) => answered(Effect.flatMap(connections.get(path.id), shown)))
      .handle("create", ({ payload }) => answered(Effect.flatMap(connections.create(payload), viewedMasked)))
      .handle("update", ({ path, payload }) =>
        answered(Effect.flatMap(connections.update(path.id, payload), viewedMasked))
      )
      .handle("remove", ({ path }) => answered(connections.remove(path.id)))
      .handle("test", ({ path, payload }) => answered(connections.test(path.id, payload?.model ?? null)))
      .handle("models", ({ path, urlParams }) =>
        Effect.flatMap(
          answered(connections.models(path.id, { refresh: urlParams.refresh === "true" })),
          ({ error, models }) =>
            Effect.map(
              paged(models, ({ id }) => id),
              ({ items, nextCursor, total }) => ({ models: items, error, nextCursor, total })
            )
        )
      )
      .handle("validate", ({ payload }) =>
        Effect.gen(function* () {
          const added =
            payload.node === undefined
              ? null
              : yield* nodes.draft(payload.node).pipe(Effect.mapError(Errors.within("node")), answered)
          return yield* answered(connections.validate(payload, added))
        })
      )
  })
)
