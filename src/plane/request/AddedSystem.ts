/**
 * A conversation that goes on at another account takes its summary along: as a system text in the request of that account, and in no
 * other. What the client sent stays as it is; a later turn begins from that again. Pure.
 */
import type { SystemPrompt } from "../../subjects/settings/entity/AccessSettings.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Conversation, Message } from "../../wire/canonical/Conversation.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import type { Carried, Work } from "./Exchange.ts"

/** Hot: returns the handoff text that `target` gets first; null where it needs none, or nothing is known. */
export const carriedTo = ({ handoff }: Pick<Work, "handoff">, { account }: Target): Carried | null =>
  handoff === undefined || handoff.connectionId === account.connection.id ? null : handoff

/** Returns the decision for the record once `target` has got the handoff text. */
export const decisionWith = (work: Work, target: Target): Work["decision"] => {
  const carried = carriedTo(work, target)
  if (carried === null) return work.decision
  return { ...work.decision, reason: { _tag: "HandedOver", from: carried.from, reason: work.decision.reason } }
}

const isSystem = (role: unknown): boolean => role === "system" || role === "developer"

/** Behind the client's own system prompt: the begin of that stays what a prompt cache, or a provider, looks for. */
const behind = <A>(messages: ReadonlyArray<A>, role: (message: A) => unknown, added: A): ReadonlyArray<A> => {
  const first = messages.findIndex((message) => !isSystem(role(message)))
  const at = first === -1 ? messages.length : first
  return [...messages.slice(0, at), added, ...messages.slice(at)]
}

/** The conversation with the text in it. */
export const conversationWith = (conversation: Conversation, { text }: Carried): Conversation => ({
  ...conversation,
  messages: behind<Message>(conversation.messages, ({ role }) => role, {
    role: "system",
    parts: [{ type: "text", text }]
  })
})

const block = (text: string): JsonObject => ({ type: "text", text })

const listed = (value: Json | undefined): ReadonlyArray<Json> => {
  if (isArray(value)) return value
  if (typeof value === "string") return value === "" ? [] : [{ text: value }]
  return isObject(value) ? [value] : []
}

const inMessages = (body: JsonObject, text: string): JsonObject => {
  const messages = isArray(body["messages"]) ? body["messages"] : []
  return {
    ...body,
    messages: behind<Json>(messages, (each) => objectOr(each)["role"], { role: "system", content: text })
  }
}

const systemBlocks = ({ system }: JsonObject): ReadonlyArray<Json> => {
  if (isArray(system)) return system
  return typeof system === "string" && system !== "" ? [block(system)] : []
}

const inSystem = (body: JsonObject, text: string): JsonObject => ({
  ...body,
  system: [...systemBlocks(body), block(text)]
})

const inInstructions = (body: JsonObject, text: string): JsonObject => {
  const { instructions } = body
  const before = typeof instructions === "string" && instructions !== "" ? `${instructions}\n\n` : ""
  return { ...body, instructions: before + text }
}

const inSystemInstruction = (body: JsonObject, text: string): JsonObject => {
  const name = Object.hasOwn(body, "system_instruction") ? "system_instruction" : "systemInstruction"
  const said = body[name]
  const content = isObject(said) ? said : { parts: listed(said) }
  return { ...body, [name]: { ...content, parts: [...listed(content["parts"]), { text }] } }
}

/** Texts of a wire that has one for all of it. */
const joined = (...texts: ReadonlyArray<string>): string => texts.filter((text) => text !== "").join("\n\n")

const before = (wire: WireName, body: JsonObject, text: string): JsonObject => {
  switch (wire) {
    case "chat":
    case "ollama": {
      const messages = isArray(body["messages"]) ? body["messages"] : []
      return { ...body, messages: [{ role: "system", content: text }, ...messages] }
    }
    case "messages":
      return { ...body, system: [block(text), ...systemBlocks(body)] }
    case "responses":
      return { ...body, instructions: joined(text, stringOr(body["instructions"]) ?? "") }
    case "gemini": {
      const name = Object.hasOwn(body, "system_instruction") ? "system_instruction" : "systemInstruction"
      const said = body[name]
      const content = isObject(said) ? said : { parts: listed(said) }
      return { ...body, [name]: { ...content, parts: [{ text }, ...listed(content["parts"])] } }
    }
  }
}

/**
 * A request of `wire` with the operator's texts around its system text, and everything else as the client wrote it. The same object where
 * a request has no place for a system text (embeddings, completions).
 */
export const promptAround = (
  wire: WireName,
  body: JsonObject,
  { prefixPrompt, suffixPrompt }: Pick<SystemPrompt, "prefixPrompt" | "suffixPrompt">
): JsonObject => {
  if ((wire === "chat" || wire === "ollama") && !isArray(body["messages"])) {
    if (wire === "chat" || typeof body["prompt"] !== "string") return body
    // Ollama's `/api/generate`: https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-completion
    return { ...body, system: joined(prefixPrompt, stringOr(body["system"]) ?? "", suffixPrompt) }
  }
  const begun = prefixPrompt === "" ? body : before(wire, body, prefixPrompt)
  return suffixPrompt === "" ? begun : bodyWith(wire, begun, { text: suffixPrompt })
}

/** A request of `wire` with the text in it, and everything else as the client wrote it. */
export const bodyWith = (wire: WireName, body: JsonObject, { text }: Pick<Carried, "text">): JsonObject => {
  switch (wire) {
    case "chat":
    case "ollama":
      return inMessages(body, text)
    case "messages":
      return inSystem(body, text)
    case "responses":
      return inInstructions(body, text)
    case "gemini":
      return inSystemInstruction(body, text)
  }
}
