/** All tools of this gateway. Loaded by the first client that asks for one: their schemas come from the whole contract. */
import type * as Effect from "effect/Effect"
import type { InnerRequests } from "../../plane/InnerRequests.ts"
import type { SkillBlocks } from "../../subjects/skills/service.ts"
import type { Caller } from "../../agents/mcp/Caller.ts"
import type { Tool } from "../../agents/mcp/Tool.ts"
import type { Plane } from "../management/Management.ts"
import { endpointTool, errorTextOf } from "./EndpointTool.ts"
import { setCompressionEngine } from "./tools/Compression.ts"
import { endpointTools } from "./tools/Endpoints.ts"
import { memoryTools } from "./tools/Memories.ts"
import { metricsTools } from "./tools/Metrics.ts"
import { requestTools } from "./tools/Requests.ts"
import { routeTools } from "./tools/Routes.ts"
import { runSkillTool, skillTool } from "./tools/Skills.ts"
import { type AskSearch, toolSearch, webSearch } from "./tools/Search.ts"

export interface ToolNeeds {
  readonly ask: Plane["ask"]
  readonly askModel: typeof InnerRequests.Service.ask
  readonly askSearch: AskSearch
  readonly runBlock: typeof SkillBlocks.Service.run
  /** Every tool of a caller, those of other servers too. */
  readonly all: (caller: Caller) => Effect.Effect<ReadonlyArray<Tool>>
}

export const makeToolbox = ({ all, ask, askModel, askSearch, runBlock }: ToolNeeds): ReadonlyArray<Tool> =>
  [
    ...endpointTools.map((about) => endpointTool(ask, about)),
    ...routeTools(ask),
    ...metricsTools(ask),
    ...memoryTools(ask),
    setCompressionEngine(ask),
    skillTool(ask),
    runSkillTool(ask, runBlock),
    ...requestTools(askModel, ask),
    webSearch(askSearch, errorTextOf),
    toolSearch(all)
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1))
