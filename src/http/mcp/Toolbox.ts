/** All tools of this gateway. Loaded by the first client that asks for one: their schemas come from the whole contract. */
import type { Tool } from "../../mcp/Tool.ts"
import type { Plane } from "../Management.ts"
import { endpointTool } from "./EndpointTool.ts"
import { endpointTools } from "./tools/Endpoints.ts"

export interface ToolNeeds {
  readonly ask: Plane["ask"]
}

export const makeToolbox = ({ ask }: ToolNeeds): ReadonlyArray<Tool> =>
  endpointTools.map((about) => endpointTool(ask, about)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
