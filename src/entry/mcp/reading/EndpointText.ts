/** Answers of endpoints of the management, as texts of resources. */
import * as Effect from "effect/Effect"
import type { ManagementKey } from "../../../contract/ManagementRoutes.ts"
import { ReadFailure } from "../../../agents/mcp/Resource.ts"
import type { ToolCall } from "../../../agents/mcp/Tool.ts"
import { type Json, stringOr } from "../../../wire/json/Json.ts"
import type { Plane } from "../../management/Management.ts"
import { errorTextOf } from "../EndpointTool.ts"
import type { Asking } from "../SchemaTool.ts"

const answerOf = (
  ask: Plane["ask"],
  key: ManagementKey,
  { path = {}, query = {} }: Asking,
  { caller }: ToolCall
): Effect.Effect<Json, ReadFailure> =>
  Effect.flatMap(
    ask({ key, path, query, caller: { principal: caller.principal, ip: caller.ip, body: null } }),
    ({ body, status }) =>
      status >= 400
        ? new ReadFailure({ message: errorTextOf(status, body), isAbsent: status === 404 })
        : Effect.succeed(body)
  )

/** The answer as JSON. */
export const jsonText = (ask: Plane["ask"], key: ManagementKey, asking: Asking, call: ToolCall) =>
  Effect.map(answerOf(ask, key, asking, call), (body) => JSON.stringify(body, null, 2))

/** The page of a skill, in Markdown. */
export const skillPage = (ask: Plane["ask"], id: string, call: ToolCall) =>
  Effect.flatMap(answerOf(ask, "agentSkills.raw", { path: { id } }, call), (body) => {
    const page = stringOr(body)
    return page === null
      ? new ReadFailure({ message: "The page could not be made.", isAbsent: false })
      : Effect.succeed(page)
  })
