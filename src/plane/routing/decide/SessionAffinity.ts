/**
 * Decides when a session stays at the account that served it last, although the strategy would choose another
 * (`config.sessionAffinity`). Pure.
 */
import type { SessionAffinity } from "../../../subjects/combos/entity/ConfigFields.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../wire/json/Json.ts"
import type { Resolution } from "../resolve/ModelResolver.ts"

/**
 * Strategies whose order is the operator's preference; the others spread requests, or go by facts that change from one
 * request to the next.
 */
const ordered: ReadonlySet<string> = new Set(["priority", "fill-first", "cost-optimized", "context-optimized"])

export const sessionAffinityOf = ({ auto, policy, strategy }: Resolution): SessionAffinity =>
  policy.sessionAffinity ?? (auto === null && ordered.has(strategy) ? "prompt" : "strict")

/** Checks whether the session's own account goes first in this turn. */
export const staysAtAccount = (resolution: Resolution, startsPrompt: () => boolean): boolean => {
  const affinity = sessionAffinityOf(resolution)
  return affinity === "strict" || (affinity === "prompt" && !startsPrompt())
}

const turnsOf: Readonly<Record<WireName, string>> = {
  chat: "messages",
  messages: "messages",
  ollama: "messages",
  responses: "input",
  gemini: "contents"
}

/** Instructions between turns are no turn. */
const isInstruction = (turn: Json | undefined): boolean =>
  isObject(turn) && (turn["role"] === "system" || turn["role"] === "developer")

const holdsToolResult = (parts: Json | undefined): boolean =>
  isArray(parts) &&
  parts.some(
    (part) =>
      isObject(part) &&
      (part["type"] === "tool_result" ||
        part["functionResponse"] !== undefined ||
        part["function_response"] !== undefined)
  )

/** Checks whether a request begins something new: its last turn is the user's, and holds no result of a tool. */
export const startsPrompt = (wire: WireName, body: JsonObject): boolean => {
  const turns = body[turnsOf[wire]]
  // A bare text is a prompt.
  if (!isArray(turns)) return true
  const last = turns.findLast((turn) => !isInstruction(turn))
  if (!isObject(last)) return typeof last === "string"
  const type = stringOr(last["type"])
  if (wire === "responses" && type !== null && type !== "message") return false
  // The gemini wire takes a missing role for the user's.
  if (last["role"] !== "user" && !(wire === "gemini" && last["role"] === undefined)) return false
  return !holdsToolResult(last[wire === "gemini" ? "parts" : "content"])
}
