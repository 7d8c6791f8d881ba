/** The server of all tools, loaded with the first request that needs it. */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { McpAuditRepo } from "../../subjects/mcp/repo.ts"
import { type Caller, apiKeyIdOf } from "../../agents/mcp/Caller.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Timers } from "../../platform/Timers.ts"
import type { Tool, ToolCall, ToolOutput } from "../../agents/mcp/Tool.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { withoutWaiting } from "../../store/engine/WriteQueue.ts"
import { type McpServer, makeServer } from "../../agents/mcp/Server.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { ManagementEndpoint } from "../management/ManagementEndpoint.ts"
import { InnerRequests } from "../../plane/InnerRequests.ts"
import { Searches } from "../../plane/search/Searches.ts"
import { SkillBlocks } from "../../subjects/skills/service.ts"
import { Upstreams } from "../../agents/mcp/upstream/Upstreams.ts"
import { makeAskSearch } from "./AskSearch.ts"

/** Caller for the management's list of all tools. */
const manager: Caller = { principal: { _tag: "AdminKey" }, scopes: null, ip: "" }

/** Keeps a row of each call; a store that fails must not fail the call. */
const makeRecorder = Effect.gen(function* () {
  const audit = yield* McpAuditRepo
  const ids = yield* IdGen
  const timers = yield* Timers
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  return (tool: Tool, input: JsonObject, { caller, startedMs }: ToolCall, output: ToolOutput) =>
    Effect.suspend(() => {
      const { error, passed, structured } = output
      const atMs = timers.nowMs()
      const added = audit.add({
        id: ids.next(atMs),
        atMs,
        tool: tool.name,
        apiKeyId: apiKeyIdOf(caller),
        inputHash: createHash("sha256").update(JSON.stringify(input)).digest("hex"),
        outputSummary:
          error === null ? `ok, ${JSON.stringify(passed ?? structured ?? {}).length} characters` : "failed",
        durationMs: timers.monotonicMs() - startedMs,
        success: error === null
      })
      const later = Effect.catchAll(added, (problem) =>
        Effect.logWarning("A call of an MCP tool was not recorded", problem)
      )
      return Effect.catchAll(withoutWaiting(added), () => Effect.sync(() => void runFork(later)))
    })
})

export interface LoadedServer {
  readonly server: Effect.Effect<McpServer>
  /** Tools for the management's list. */
  readonly tools: Effect.Effect<ReadonlyArray<Tool>>
  readonly count: Effect.Effect<number>
}

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const management = yield* ManagementEndpoint
  const requests = yield* InnerRequests
  const searches = yield* Searches
  const skillBlocks = yield* SkillBlocks
  const upstreams = yield* Upstreams
  const record = yield* makeRecorder
  let offered: Effect.Effect<ReadonlyArray<Tool>> = Effect.succeed([])
  let own = 0

  const load = async (): Promise<McpServer> => {
    const [{ makeToolbox }, { resourcesOf, templatesOf }, { promptsOf }, { allProviders }] = await Promise.all([
      import("./Toolbox.ts"),
      import("./reading/Resources.ts"),
      import("./reading/Prompts.ts"),
      import("../../plane/providers/registry/index.ts")
    ])
    const tools: ReadonlyArray<Tool> = makeToolbox({
      ask: management.ask,
      askModel: requests.ask,
      askSearch: makeAskSearch(searches, requests),
      runBlock: skillBlocks.run,
      all: (caller) => withForeign(caller)
    })
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const withForeign = (caller: Caller): Effect.Effect<ReadonlyArray<Tool>> =>
      Effect.map(upstreams.tools(caller), (foreign) => (foreign.length === 0 ? tools : [...tools, ...foreign]))
    offered = withForeign(manager)
    own = tools.length
    const resources = resourcesOf(management.ask)
    return makeServer({
      resources: () => Effect.succeed(resources),
      templates: templatesOf(management.ask, withForeign),
      prompts: promptsOf(
        management.ask,
        allProviders.map(({ id }) => id)
      ),
      tools: withForeign,
      tool: (name, caller) => {
        const known = byName.get(name)
        return known === undefined ? upstreams.tool(name, caller) : Effect.succeed(known)
      },
      called: record,
      isShort: () => flags.isOn("GATEWAY_MCP_COMPRESS_DESCRIPTIONS")
    })
  }
  let loading: Promise<McpServer> | null = null
  const server = Effect.promise(() => (loading ??= load()))
  const loaded: LoadedServer = {
    server,
    tools: Effect.flatMap(server, () => offered),
    count: Effect.map(server, () => own + upstreams.known())
  }
  return loaded
})
