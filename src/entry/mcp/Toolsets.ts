/** Groups of tools that are listed together, where a session chooses some, and the choice by a request. Pure. */
import { type ListWish, schemaForms, type Toolset, toolsets } from "../../agents/mcp/Tool.ts"

/** The names of this gateway's tools, without the prefix that all have. */
const byToolset = {
  cache: ["cache_flush", "cache_stats"],
  compression: [
    "ccr_retrieve",
    "compression_combo_stats",
    "compression_configure",
    "compression_status",
    "list_compression_combos",
    "set_compression_engine"
  ],
  health: ["check_quota", "get_health", "get_provider_metrics"],
  memory: ["memory_add", "memory_clear", "memory_search"],
  models: ["list_models_catalog"],
  requests: ["route_request", "test_combo", "web_search"],
  routing: [
    "best_combo_for_task",
    "explain_route",
    "get_combo_metrics",
    "list_combos",
    "set_resilience_profile",
    "set_routing_strategy",
    "simulate_route",
    "switch_combo"
  ],
  skills: ["agent_skills_coverage", "agent_skills_get", "agent_skills_list", "skills_execute"],
  usage: ["cost_report", "get_session_snapshot", "set_budget_guard"],
  /** Tools of registered servers. */
  servers: []
} as const satisfies Readonly<Record<Toolset, ReadonlyArray<string>>>

/** Name of the tool that finds those of all groups, so that it is listed with each. */
const everywhere = "tool_search"

export type ToolName = (typeof byToolset)[Toolset][number] | typeof everywhere

const known: ReadonlyMap<string, Toolset> = new Map(
  toolsets.flatMap((toolset) => byToolset[toolset].map((name) => [name, toolset] as const))
)

export const toolsetOf = (name: ToolName): Toolset | null => known.get(name) ?? null

const isToolset = (text: string): text is Toolset => toolsets.some((toolset) => toolset === text)

const quoted = (text: string): string => `'${text.slice(0, 100)}'`

/** Longer values are refused without being looked at. */
const maxChars = 1_000

interface ToolsRequest {
  /** The request target with its query. */
  readonly url: string
  readonly header: (name: string) => string | null
}

/** The value of a query parameter, else of a header; null: neither says anything. */
const parameterOf = ({ header, url }: ToolsRequest, parameter: string): string | null => {
  const start = url.indexOf("?")
  const query = start === -1 ? null : new URLSearchParams(url.slice(start + 1)).get(parameter)
  return (query ?? header(`x-gateway-mcp-${parameter}`))?.trim() || null
}

/** Reads a request's wish for the list of tools; a text describes its mistake. */
export const wishOf = (asked: ToolsRequest): ListWish | string => {
  const [names, form] = [parameterOf(asked, "toolsets"), parameterOf(asked, "schemas")]
  if ((names ?? "").length > maxChars) return `'toolsets' may have at most ${maxChars} characters.`
  const wanted = names === null ? [] : names.split(",").map((name) => name.trim().toLowerCase())
  const unknown = wanted.find((name) => name !== "" && name !== "all" && !isToolset(name))
  if (unknown !== undefined) {
    return `There is no toolset ${quoted(unknown)}. There are ${toolsets.join(", ")}, and 'all'.`
  }
  const schemas = schemaForms.find((one) => one === form?.toLowerCase()) ?? null
  if (form !== null && schemas === null) return `'schemas' must be ${schemaForms.join(", ")}, not ${quoted(form)}.`
  const chosen = wanted.filter(isToolset)
  return { schemas, toolsets: chosen.length === 0 || wanted.includes("all") ? null : new Set(chosen) }
}
