/** Resources that clients may read: the catalogue, usage, requests, decisions and the pages of skills. */
import * as Effect from "effect/Effect"
import type { ManagementKey } from "../../../contract/ManagementRoutes.ts"
import { skillIds } from "../../../subjects/skills/entity.ts"
import type { KeyScope } from "../../../subjects/keys/entity.ts"
import { usageRanges } from "../../../subjects/usageHistory/entity.ts"
import { ReadFailure, type Resource, type ResourceTemplate } from "../../../agents/mcp/Resource.ts"
import { closest } from "../../../kernel/text/Closest.ts"
import type { Caller } from "../../../agents/mcp/Caller.ts"
import { toolProblem } from "../../../agents/mcp/Server.ts"
import type { Tool, ToolCall } from "../../../agents/mcp/Tool.ts"
import { toolUri, viewOf } from "../../../agents/mcp/ToolView.ts"
import { isArray, objectOr, parseJson, stringOr } from "../../../wire/json/Json.ts"
import type { Plane } from "../../management/Management.ts"
import { type Asking } from "../SchemaTool.ts"
import { jsonText, skillPage } from "./EndpointText.ts"

export const scheme = "gateway://"

/** Most characters of a text; a longer one is refused: no model could read it. */
const maxTextChars = 1_048_576

const bounded = (text: string) =>
  text.length > maxTextChars
    ? new ReadFailure({
        message: `It has more than ${maxTextChars} characters. Use a tool that takes 'limit'.`,
        isAbsent: false
      })
    : Effect.succeed(text)

interface About {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly scopes: ReadonlyArray<KeyScope>
  readonly endpoint: ManagementKey
  readonly asking?: Asking
}

const state: ReadonlyArray<About> = [
  {
    name: "models",
    title: "What can be asked for",
    description: "Models of connections, combos, automatic ids and aliases, with prices, windows and health.",
    scopes: ["read:models"],
    endpoint: "modelCatalog.list"
  },
  {
    name: "combos",
    title: "Combos",
    description: "Named groups of targets, with the strategy that orders them.",
    scopes: ["read:combos"],
    endpoint: "combos.list"
  },
  {
    name: "usage",
    title: "Usage and cost",
    description: "Requests, tokens and cost of the last thirty days, by day, provider, model, connection and key.",
    scopes: ["read:usage"],
    endpoint: "usageHistory.analytics",
    asking: { query: { range: "30d" } }
  },
  {
    name: "requests",
    title: "The last requests",
    description: "The last fifty requests, with what served them, what they cost and how they ended.",
    scopes: ["read:usage"],
    endpoint: "usage.logs",
    asking: { query: { limit: "50" } }
  },
  {
    name: "health",
    title: "Health",
    description: "The state of the gateway and of its connections.",
    scopes: ["read:health"],
    endpoint: "system.health"
  }
]

const stateOf = (ask: Plane["ask"]): ReadonlyArray<Resource> =>
  state.map(({ asking = {}, description, endpoint, name, scopes, title }) => ({
    uri: scheme + name,
    name,
    title,
    description,
    mimeType: "application/json",
    scopes,
    read: (call) => Effect.flatMap(jsonText(ask, endpoint, asking, call), bounded)
  }))

const skillUri = `${scheme}skills/`

const skillsOf = (ask: Plane["ask"]): ReadonlyArray<Resource> =>
  skillIds.map((id) => ({
    uri: skillUri + id,
    name: id,
    title: `Skill ${id}`,
    description: id.startsWith("cli-")
      ? "A manual of commands, with examples that work as they stand."
      : "A manual of routes, with examples that work as they stand.",
    mimeType: "text/markdown",
    scopes: ["read:catalog"],
    read: (call) => skillPage(ask, id, call)
  }))

/** Ids of the last requests. */
export const lastRequests =
  (ask: Plane["ask"]) =>
  (call: ToolCall): Effect.Effect<ReadonlyArray<string>> =>
    jsonText(ask, "usage.logs", { query: { limit: "50" } }, call).pipe(
      Effect.map((text) => {
        const { logs } = objectOr(parseJson(text))
        return isArray(logs) ? logs.flatMap((row) => stringOr(objectOr(row)["requestId"]) ?? []) : []
      }),
      Effect.orElseSucceed(() => [])
    )

export const resourcesOf = (ask: Plane["ask"]): ReadonlyArray<Resource> => [...stateOf(ask), ...skillsOf(ask)]

type ToolsOf = (caller: Caller) => Effect.Effect<ReadonlyArray<Tool>>

const mayCall =
  (tools: ToolsOf) =>
  ({ caller }: ToolCall): Effect.Effect<ReadonlyArray<Tool>> =>
    Effect.map(tools(caller), (all) => all.filter((tool) => toolProblem(tool, caller) === null))

const toolTemplate = (tools: ToolsOf): ResourceTemplate => ({
  prefix: toolUri,
  variable: "name",
  name: "tool",
  title: "A tool with its whole schemas",
  description:
    "What a tool is given and what it answers, whole, with the scopes it needs and the toolset it is listed in.",
  mimeType: "application/json",
  scopes: ["read:tools"],
  read: (name, call) =>
    Effect.flatMap(mayCall(tools)(call), (all) => {
      const tool = all.find((one) => one.name === name)
      if (tool !== undefined) {
        return Effect.succeed(JSON.stringify({ ...viewOf(tool), scopes: tool.scopes, toolset: tool.toolset }, null, 2))
      }
      const [near] = closest(
        name,
        all.map((one) => one.name),
        1
      )
      const hint = near === undefined ? "" : ` Did you mean '${near}'?`
      return new ReadFailure({
        message: `There is no tool '${name.slice(0, 100)}' that this caller may call.${hint}`,
        isAbsent: true
      })
    }),
  values: (call) => Effect.map(mayCall(tools)(call), (all) => all.map(({ name }) => name))
})

export const templatesOf = (ask: Plane["ask"], tools: ToolsOf): ReadonlyArray<ResourceTemplate> => [
  toolTemplate(tools),
  {
    prefix: `${scheme}decisions/`,
    variable: "requestId",
    name: "decision",
    title: "Why a request went where it went",
    description: "The decision of a request, by its `X-Gateway-Request-Id`.",
    mimeType: "application/json",
    scopes: ["read:health", "read:usage"],
    read: (requestId, call) => jsonText(ask, "routing.decision", { path: { requestId } }, call),
    values: lastRequests(ask)
  },
  {
    prefix: `${scheme}usage/`,
    variable: "range",
    name: "usage-of",
    title: "Usage and cost of a range",
    description: `Like ${scheme}usage, of another range: ${usageRanges.join(", ")}.`,
    mimeType: "application/json",
    scopes: ["read:usage"],
    read: (range, call) => Effect.flatMap(jsonText(ask, "usageHistory.analytics", { query: { range } }, call), bounded),
    values: () => Effect.succeed(usageRanges)
  },
  {
    prefix: skillUri,
    variable: "id",
    name: "skill",
    title: "The page of a skill",
    description: "How to use or operate a part of this gateway, with examples that work as they stand.",
    mimeType: "text/markdown",
    scopes: ["read:catalog"],
    read: (id, call) => skillPage(ask, id, call),
    values: () => Effect.succeed(skillIds)
  }
]
