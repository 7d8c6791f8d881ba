/**
 * Decides what is done with a request of an agent: bypass takes precedence over target, target over passthrough. Bypassed requests are passed
 * on unread, by the listener that decrypts and by `entry/bridge/Intercept`, and never come here; a target answers in place of the vendor; all
 * else goes on to the vendor as it is. Pure.
 */
import type { ModelMapping } from "../../subjects/agentBridge/entity.ts"
import type { Agent } from "./agents/Agent.ts"
import { agentByHost } from "./agents/Agents.ts"
import { type Glob, globOf } from "./Globs.ts"

export type PassReason =
  /** No agent has this host. */
  | "no_agent"
  /** The request is no call to a model that this gateway can answer. */
  | "no_endpoint"
  /** No mapping names the model. */
  | "not_mapped"

export type Decision =
  | { readonly _tag: "Target"; readonly agent: Agent; readonly sourceModel: string; readonly targetModel: string }
  | { readonly _tag: "Passthrough"; readonly agent: Agent | null; readonly reason: PassReason }

/** A mapping with its pattern read. */
export interface ReadMapping extends ModelMapping {
  readonly source: Glob
}

export const readMapping = (mapping: ModelMapping): ReadMapping => ({ ...mapping, source: globOf(mapping.sourceModel) })

export const agentOf = (host: string): Agent | null => agentByHost.get(host.toLowerCase()) ?? null

const patternsOf: ReadonlyMap<Agent, ReadonlyArray<Glob>> = new Map(
  [...new Set(agentByHost.values())].map((agent) => [agent, agent.endpointPatterns.map(globOf)])
)

const pathAlone = (path: string): string => path.split("?", 1)[0] ?? path

/** Checks whether a request is a call to a model in a format that this gateway can answer, whatever its model. */
export const isAnswerable = (agent: Agent, method: string, path: string): boolean =>
  agent.wire !== null &&
  method === "POST" &&
  (patternsOf.get(agent)?.some(({ matches }) => matches(pathAlone(path))) ?? false)

/** Finds the mapping of a model; an exact name takes precedence over patterns. */
export const mappingOf = (mappings: ReadonlyArray<ReadMapping>, model: string): ReadMapping | null =>
  mappings.find(({ sourceModel }) => sourceModel === model) ??
  mappings.find(({ source }) => source.matches(model)) ??
  null

export interface AgentRequest {
  readonly host: string
  readonly method: string
  readonly path: string
  /** Null: its body names none. */
  readonly model: string | null
}

export const decide = (
  { host, method, model, path }: AgentRequest,
  mappingsOf: (agentId: string) => ReadonlyArray<ReadMapping>
): Decision => {
  const agent = agentOf(host)
  if (agent === null) return { _tag: "Passthrough", agent, reason: "no_agent" }
  if (!isAnswerable(agent, method, path)) return { _tag: "Passthrough", agent, reason: "no_endpoint" }
  const mapping = model === null ? null : mappingOf(mappingsOf(agent.id), model)
  return model === null || mapping === null
    ? { _tag: "Passthrough", agent, reason: "not_mapped" }
    : { _tag: "Target", agent, sourceModel: model, targetModel: mapping.targetModel }
}
