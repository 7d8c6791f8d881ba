/** `/api/keys`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Keys as KeysGroup } from "./routes.ts"
import type { ApiKey } from "./entity.ts"
import { Keys } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { createdKeyView, keyView } from "../../entry/handling/Views.ts"

const viewed = (key: ApiKey) => ({ key: keyView(key) })

export const layer = HttpApiBuilder.group(contractOf(KeysGroup), "keys", (handlers) =>
  Effect.map(Keys, (keys) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(keys.list, (all) => paged(all, ({ id }) => id)),
          ({ items, nextCursor }) => ({ keys: items.map(keyView), nextCursor })
        )
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
