/** `/api/quota/groups`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { QuotaGroups as QuotaGroupsGroup } from "./routes.ts"
import { type ObservedGroup, QuotaGroups } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { quotaGroupView } from "../../entry/handling/Views.ts"

const viewed = (observed: ObservedGroup) => ({ group: quotaGroupView(observed) })

export const layer = HttpApiBuilder.group(contractOf(QuotaGroupsGroup), "quotaGroups", (handlers) =>
  Effect.map(QuotaGroups, (groups) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(answered(groups.list), (all) => paged(all, ({ group }) => group.id)),
          ({ items, nextCursor, total }) => ({ groups: items.map(quotaGroupView), nextCursor, total })
        )
      )
      .handle("get", ({ path }) => answered(Effect.map(groups.get(path.id), viewed)))
      .handle("create", ({ payload }) => answered(Effect.map(groups.create(payload), viewed)))
      .handle("update", ({ path, payload }) => answered(Effect.map(groups.update(path.id, payload), viewed)))
      .handle("remove", ({ path }) => answered(groups.remove(path.id)))
  )
)
