/** `/api/keys`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { keyListing, Keys as KeysGroup } from "./routes.ts"
import type { ApiKey } from "./entity.ts"
import { Keys } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
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
  Effect.map(Keys, (keys) =>
    handlers
      .handle("list", () =>
        Effect.gen(function* () {
          const page = yield* listed(yield* keys.list, listOf)
          return yield* listAnswer("keys", page, asJson(page.isSummary ? summaryOf : keyView))
        })
      )
      .handle("get", ({ path }) => answered(Effect.map(keys.get(path.id), viewed)))
      .handle("create", ({ payload }) => answered(Effect.map(keys.create(payload), createdKeyView)))
      .handle("update", ({ path, payload }) => answered(Effect.map(keys.update(path.id, payload), viewed)))
      .handle("patch", ({ path, payload }) => answered(Effect.map(keys.update(path.id, payload), viewed)))
      .handle("rotate", ({ path, payload }) =>
        answered(Effect.map(keys.rotate(path.id, payload ?? {}), createdKeyView))
      )
      .handle("remove", ({ path }) => answered(keys.remove(path.id)))
  )
)
