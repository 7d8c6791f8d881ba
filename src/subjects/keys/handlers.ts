/** `/api/keys`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { keyListing, Keys as KeysGroup } from "./routes.ts"
import type { ApiKey } from "./entity.ts"
import { Keys } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { makeCallerBounds } from "../../entry/handling/CallerBounds.ts"
import { reaches } from "../people/Bounds.ts"
import { asJson, listAnswer, listed, type ListOf } from "../../entry/handling/Lists.ts"
import { createdKeyView, keyView } from "../../entry/handling/Views.ts"

const viewed = (key: ApiKey) => ({ key: keyView(key) })

const listOf: ListOf<ApiKey, typeof keyListing> = {
  listing: keyListing,
  idOf: ({ id }) => id,
  texts: ({ id, name, prefix }) => [name, id, prefix],
  sorts: {
    name: ({ name }) => name,
    createdAt: ({ createdAtMs }) => createdAtMs,
    lastUsedAt: ({ lastUsedAtMs }) => lastUsedAtMs,
    expiresAt: ({ expiresAtMs }) => expiresAtMs
  }
}

const summaryOf = (key: ApiKey) => {
  const { expiresAt, id, isActive, lastUsedAt, name, prefix, scopes } = keyView(key)
  return { id, name, prefix, scopes, isActive, expiresAt, lastUsedAt }
}

export const layer = HttpApiBuilder.group(contractOf(KeysGroup), "keys", (handlers) =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const callerBounds = yield* makeCallerBounds
    /** Within the bounds of the caller. */
    const bounded = <A, E, R>(use: (within: ReturnType<typeof keys.within>) => Effect.Effect<A, E, R>) =>
      answered(Effect.flatMap(callerBounds, (bounds) => use(keys.within(bounds))))
    return handlers
      .handle("list", () =>
        Effect.gen(function* () {
          const bounds = yield* callerBounds
          const all = yield* keys.list
          const page = yield* listed(bounds === null ? all : all.filter((key) => reaches(bounds, key)), listOf)
          return yield* listAnswer("keys", page, asJson(page.isSummary ? summaryOf : keyView))
        })
      )
      .handle("get", ({ path }) => bounded((within) => Effect.map(within.get(path.id), viewed)))
      .handle("create", ({ payload }) => bounded((within) => Effect.map(within.create(payload), createdKeyView)))
      .handle("update", ({ path, payload }) => bounded((within) => Effect.map(within.update(path.id, payload), viewed)))
      .handle("patch", ({ path, payload }) => bounded((within) => Effect.map(within.update(path.id, payload), viewed)))
      .handle("rotate", ({ path, payload }) =>
        bounded((within) => Effect.map(within.rotate(path.id, payload ?? {}), createdKeyView))
      )
      .handle("remove", ({ path }) => bounded((within) => within.remove(path.id)))
  })
)
