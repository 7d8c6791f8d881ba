/** `/api/users`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { userView } from "../../entry/handling/OwnerViews.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { Users as UsersGroup } from "./routes.ts"
import { type ObservedUser, Users } from "./service.ts"

const viewed = (observed: ObservedUser) => ({ user: userView(observed) })

export const layer = HttpApiBuilder.group(contractOf(UsersGroup), "users", (handlers) =>
  Effect.map(Users, (users) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(users.list, (all) => paged(all, ({ user }) => user.id)),
          ({ items, nextCursor, total }) => ({ users: items.map(userView), nextCursor, total })
        )
      )
      .handle("get", ({ path }) => answered(Effect.map(users.get(path.id), viewed)))
      .handle("create", ({ payload }) => answered(Effect.map(users.create(payload), viewed)))
      .handle("update", ({ path, payload }) => answered(Effect.map(users.update(path.id, payload), viewed)))
      .handle("remove", ({ path }) => answered(users.remove(path.id)))
  )
)
