/** `/api/teams`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { makeCallerBounds } from "../../entry/handling/CallerBounds.ts"
import { teamView } from "../../entry/handling/OwnerViews.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { LazyInspector } from "../../observe/inspector/LazyInspector.ts"
import { EntityNotFound, refuseRole } from "../Errors.ts"
import { reachesContent, reachesTeam } from "../people/Bounds.ts"
import { ContentRepo } from "./ContentRepo.ts"
import { contentProblem } from "./rules.ts"
import { Teams as TeamsGroup } from "./routes.ts"
import { type ObservedTeam, Teams } from "./service.ts"

const viewed = (observed: ObservedTeam) => ({ team: teamView(observed) })

export const layer = HttpApiBuilder.group(contractOf(TeamsGroup), "teams", (handlers) =>
  Effect.gen(function* () {
    const teams = yield* Teams
    const callerBounds = yield* makeCallerBounds
    const lazyInspector = yield* LazyInspector
    const requests = yield* ContentRepo
    return handlers
      .handle("list", () =>
        Effect.gen(function* () {
          const bounds = yield* callerBounds
          const shown = (yield* teams.list).filter(({ team }) => reachesTeam(bounds, team))
          const { items, nextCursor, total } = yield* paged(shown, ({ team }) => team.id)
          return { teams: items.map(teamView), nextCursor, total }
        })
      )
      .handle("get", ({ path }) =>
        answered(
          Effect.gen(function* () {
            const bounds = yield* callerBounds
            const observed = yield* teams.get(path.id)
            if (reachesTeam(bounds, observed.team)) return viewed(observed)
            return yield* new EntityNotFound({ entity: "team", id: path.id })
          })
        )
      )
      .handle("create", ({ payload }) => answered(Effect.map(teams.create(payload), viewed)))
      .handle("update", ({ path, payload }) => answered(Effect.map(teams.update(path.id, payload), viewed)))
      .handle("remove", ({ path }) => answered(teams.remove(path.id)))
      .handle("content", ({ path: { id, requestId } }) =>
        answered(
          Effect.gen(function* () {
            const bounds = yield* callerBounds
            const missing = new EntityNotFound({ entity: "content of a request", id: requestId })
            const { team } = yield* teams.get(id)
            if (!reachesContent(bounds, team)) return yield* new EntityNotFound({ entity: "team", id })
            yield* refuseRole(contentProblem(team, bounds !== null && bounds.reach !== "all"))
            if ((yield* requests.teamOf(requestId)) !== id) return yield* missing
            const inspector = lazyInspector.current()?.inspector
            const recordId = inspector?.recordOf(requestId) ?? null
            if (inspector === undefined || recordId === null) return yield* missing
            const record = yield* Effect.catchTag(inspector.get(recordId), "RecordNotFound", () => missing)
            const { requestBody: request, responseBody: answer, timestamp } = record
            return { requestId, timestamp, request, answer }
          })
        )
      )
  })
)
