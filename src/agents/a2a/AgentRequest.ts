/** Reads a message's request to the agent from the params of each form of the protocol. Pure. */
import { invalidParams, makeClientReader, RpcError } from "../mcp/protocol/JsonRpc.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import { type AgentSkillId, isAgentSkillId, skillOfText, unknownSkill } from "./SkillIds.ts"
import { type Members, read as members } from "../../wire/json/Members.ts"
import type { Form } from "./Task.ts"

export interface AgentRequest {
  readonly form: Form
  readonly skill: AgentSkillId
  /** Messages of the chat wire. */
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>
  /** The model to ask; `auto` unless the message names one. */
  readonly model: string
  readonly contextId: string | null
  /** False: the answer is the task as it began, and it goes on. */
  readonly waits: boolean
}

const ofMetadata: Members = { of: members("skill", "skillId", "model") }
const ofParts: Members = {
  each: {
    of: {
      ...members("kind", "type", "text", "raw", "url", "filename", "mediaType", "metadata", "data"),
      file: { of: members("name", "mimeType", "bytes", "uri", "fileWithBytes", "fileWithUri") }
    }
  }
}

/** The messages of a client of the agent. */
export const readAgentMessages = makeClientReader({
  ...members("id", "taskId", "skill", "model", "tenant", "historyLength", "pushNotificationConfig"),
  metadata: ofMetadata,
  configuration: {
    of: members(
      "blocking returnImmediately acceptedOutputModes historyLength pushNotificationConfig",
      "taskPushNotificationConfig"
    )
  },
  message: {
    of: {
      ...members("role", "messageId", "contextId", "taskId", "kind", "referenceTaskIds", "extensions"),
      metadata: ofMetadata,
      parts: ofParts
    }
  },
  messages: { each: { of: members("role", "content") } }
})

const maxMessages = 200
const maxIdChars = 256

/** A file or structured data in a message. */
const unsupportedPart = -32_005

const textOfPart = (part: Json, form: Form): string | RpcError => {
  if (!isObject(part)) return invalidParams("Each of 'message.parts' must be an object.")
  const text = stringOr(part["text"])
  if (text !== null && (form === "current" || part["kind"] === undefined || part["kind"] === "text")) return text
  const { data } = part
  // Data can only name the skill; what else it holds is for a reader of text.
  if (isObject(data)) return JSON.stringify(data)
  return new RpcError({ code: unsupportedPart, message: "Only parts with text or data are understood." })
}

const roles: Readonly<Record<string, string>> = {
  user: "user",
  agent: "assistant",
  assistant: "assistant",
  system: "system",
  ROLE_USER: "user",
  ROLE_AGENT: "assistant"
}

const chosen = (named: Json | undefined, text: string): AgentSkillId | RpcError => {
  if (named === undefined || named === null) return skillOfText(text)
  if (typeof named !== "string") return invalidParams("'skill' must be text.")
  return isAgentSkillId(named) ? named : invalidParams(unknownSkill(named))
}

const modelOf = (named: Json | undefined): string | RpcError => {
  if (named === undefined || named === null) return "auto"
  return typeof named === "string" && named !== "" && named.length <= maxIdChars
    ? named
    : invalidParams(`'model' must be text of 1 to ${maxIdChars} characters.`)
}

/** `skill` and `messages`, as the first agents of this kind took them. */
const readPlain = (params: JsonObject): AgentRequest | RpcError => {
  const { messages } = params
  if (!isArray(messages) || messages.length === 0) {
    return invalidParams("Give 'message' (A2A), or 'messages': a list of objects with 'role' and 'content'.")
  }
  if (messages.length > maxMessages) return invalidParams(`There may be ${maxMessages} messages at most.`)
  const read: Array<{ readonly role: string; readonly content: string }> = []
  for (const message of messages) {
    const { content, role } = objectOr(message)
    const known = typeof role === "string" ? roles[role] : undefined
    if (known === undefined || typeof content !== "string") {
      return invalidParams("Each of 'messages' must have 'role' (user, assistant or system) and 'content', a text.")
    }
    read.push({ role: known, content })
  }
  const skill = chosen(params["skill"], read.at(-1)?.content ?? "")
  if (skill instanceof RpcError) return skill
  const metadata = objectOr(params["metadata"])
  const model = modelOf(params["model"] ?? metadata["model"])
  if (model instanceof RpcError) return model
  return { form: "plain", skill, messages: read, model, contextId: null, waits: true }
}

const readMessage = (form: Form, params: JsonObject, message: JsonObject): AgentRequest | RpcError => {
  const { contextId, metadata: own, parts, role } = message
  if (typeof role !== "string" || roles[role] !== "user") return invalidParams("'message.role' must be the user's.")
  if (!isArray(parts) || parts.length === 0) return invalidParams("'message.parts' must hold at least one part.")
  if (parts.length > maxMessages) return invalidParams(`A message may have ${maxMessages} parts at most.`)
  const texts: Array<string> = []
  for (const part of parts) {
    const text = textOfPart(part, form)
    if (text instanceof RpcError) return text
    texts.push(text)
  }
  const metadata = { ...objectOr(params["metadata"]), ...objectOr(own) }
  const data = parts.map((part) => objectOr(objectOr(part)["data"])).find((each) => "skill" in each)
  const content = texts.join("\n")
  const skill = chosen(metadata["skill"] ?? metadata["skillId"] ?? data?.["skill"], content)
  if (skill instanceof RpcError) return skill
  const model = modelOf(metadata["model"])
  if (model instanceof RpcError) return model
  if (contextId !== undefined && (typeof contextId !== "string" || contextId.length > maxIdChars)) {
    return invalidParams(`'message.contextId' must be text of at most ${maxIdChars} characters.`)
  }
  const { blocking, returnImmediately } = objectOr(params["configuration"])
  return {
    form,
    skill,
    messages: [{ role: "user", content }],
    model,
    contextId: typeof contextId === "string" && contextId !== "" ? contextId : null,
    waits: blocking !== false && returnImmediately !== true
  }
}

/** Reads the params of a message; `isCurrent` where the method has its name in A2A 1.0. */
export const readAgentRequest = (params: JsonObject, isCurrent: boolean): AgentRequest | RpcError => {
  const { message } = params
  if (message === undefined && !isCurrent) return readPlain(params)
  if (!isObject(message)) return invalidParams("'message' must be an object.")
  return readMessage(isCurrent ? "current" : "legacy", params, message)
}
