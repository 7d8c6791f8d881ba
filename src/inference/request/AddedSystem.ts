/**
 * A conversation that goes on at another account takes its summary along: as a system text in the request of that account, and in no
 * other. What the client sent stays as it is; a later turn begins from that again. Pure.
 */
import type { WireName } from "../../domain/Wire.ts"
import type { Target } from "../../routing/resolve/ModelResolver.ts"
import type { Conversation, Message } from "../../wire/canonical/Conversation.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr } from "../../wire/json/Json.ts"
import type { Carried, Work } from "./Exchange.ts"

/** What `target` is told of before; null where it need not, or nothing is known. Hot. */
export const carriedTo = ({ handoff }: Pick<Work, "handoff">, { account }: Target): Carried | null =>
  handoff === undefined || handoff.connectionId === account.connection.id ? null : handoff

/** The decision as the record tells it once `target` has been told. */
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

const inSystem = (body: JsonObject, text: string): JsonObject => {
  const { system } = body
  const before = typeof system === "string" && system !== "" ? [block(system)] : isArray(system) ? system : []
  return { ...body, system: [...before, block(text)] }
}

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

/** A request of `wire` with the text in it, and everything else as the client wrote it. */
export const bodyWith = (wire: WireName, body: JsonObject, { text }: Carried): JsonObject => {
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
