/** `/api/teams`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { teamView } from "../../entry/handling/OwnerViews.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { Teams as TeamsGroup } from "./routes.ts"
import { type ObservedTeam, Teams } from "./service.ts"

const viewed = (observed: ObservedTeam) => ({ team: teamView(observed) })

export const layer = HttpApiBuilder.group(contractOf(TeamsGroup), "teams", (handlers) =>
  Effect.map(Teams, (teams) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(teams.list, (all) => paged(all, ({ team }) => team.id)),
          ({ items, nextCursor, total }) => ({ teams: items.map(teamView), nextCursor, total })
        )
      )
      .handle("get", ({ path }) => answered(Effect.map(teams.get(path.id), viewed)))
      .handle("create", ({ payload }) => answered(Effect.map(teams.create(payload), viewed)))
      .handle("update", ({ path, payload }) => answered(Effect.map(teams.update(path.id, payload), viewed)))
      .handle("remove", ({ path }) => answered(teams.remove(path.id)))
  )
)
