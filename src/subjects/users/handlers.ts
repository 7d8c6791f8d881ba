/** `/api/users`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { makeCallerBounds } from "../../entry/handling/CallerBounds.ts"
import { userView } from "../../entry/handling/OwnerViews.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { iso, isoOrNull } from "../../entry/handling/Views.ts"
import { EntityNotFound } from "../Errors.ts"
import { reachesUser } from "../people/Bounds.ts"
import { People } from "../people/People.ts"
import { makePersonalData, type PersonsData } from "./PersonalData.ts"
import { Users as UsersGroup } from "./routes.ts"
import { type ObservedUser, Users } from "./service.ts"

const exportView = ({ acts, keys, memories, sessions, teams, usage, user }: PersonsData) => ({
  user: userView(user),
  teams,
  keys: keys.map(({ createdAtMs, id, lastUsedAtMs, name, prefix }) => ({
    id,
    name,
    prefix,
    createdAt: iso(createdAtMs),
    lastUsedAt: isoOrNull(lastUsedAtMs)
  })),
  sessions: sessions.map(({ address, createdAtMs, lastSeenAtMs, userAgent }) => ({
    createdAt: iso(createdAtMs),
    lastSeenAt: iso(lastSeenAtMs),
    address,
    userAgent
  })),
  memories: memories.map(({ content, createdAtMs, id, type }) => ({ id, type, content, createdAt: iso(createdAtMs) })),
  audit: acts.map(({ timestampMs, ...act }) => ({ ...act, timestamp: iso(timestampMs) })),
  usage: {
    requests: usage.requests,
    tokensIn: usage.tokensIn,
    tokensOut: usage.tokensOut,
    costUsd: usage.costNanoUsd / nanoUsdPerUsd
  }
})

const viewed = (observed: ObservedUser) => ({ user: userView(observed) })

export const layer = HttpApiBuilder.group(contractOf(UsersGroup), "users", (handlers) =>
  Effect.gen(function* () {
    const users = yield* Users
    const people = yield* People
    const personal = yield* makePersonalData
    const callerBounds = yield* makeCallerBounds
    return handlers
      .handle("list", () =>
        Effect.gen(function* () {
          const bounds = yield* callerBounds
          const all = yield* users.list
          const shown = all.filter(({ user }) => reachesUser(bounds, people.directory(), user.id))
          const { items, nextCursor, total } = yield* paged(shown, ({ user }) => user.id)
          return { users: items.map(userView), nextCursor, total }
        })
      )
      .handle("get", ({ path }) =>
        answered(
          Effect.flatMap(callerBounds, (bounds) =>
            reachesUser(bounds, people.directory(), path.id)
              ? Effect.map(users.get(path.id), viewed)
              : new EntityNotFound({ entity: "person", id: path.id })
          )
        )
      )
      .handle("create", ({ payload }) =>
        answered(Effect.flatMap(callerBounds, (bounds) => Effect.map(users.create(payload, bounds), viewed)))
      )
      .handle("update", ({ path, payload }) =>
        answered(Effect.flatMap(callerBounds, (bounds) => Effect.map(users.update(path.id, payload, bounds), viewed)))
      )
      .handle("remove", ({ path }) => answered(Effect.flatMap(callerBounds, (bounds) => users.remove(path.id, bounds))))
      .handle("export", ({ path }) =>
        answered(
          Effect.flatMap(callerBounds, (bounds) =>
            bounds === null || bounds.reach === "all" || bounds.userId === path.id
              ? Effect.map(personal.of(path.id), exportView)
              : new EntityNotFound({ entity: "person", id: path.id })
          )
        )
      )
      .handle("erase", ({ path }) =>
        answered(
          Effect.flatMap(callerBounds, (bounds) =>
            Effect.map(personal.erase(path.id, bounds), ({ acts, keys, memories }) => ({
              erased: true as const,
              keys,
              memories,
              audit: acts
            }))
          )
        )
      )
  })
)
