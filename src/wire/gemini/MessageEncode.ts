/**
 * Canonical messages → `systemInstruction` and `contents` of a gemini request.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { Conversation, Message, Part, ToolCallPart, ToolResultPart } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { asMarkedUser, isSystem, splitSystem } from "../canonical/SystemPlaces.ts"
import { argsAsObject, argsObject } from "../canonical/tools/ToolArgs.ts"
import { type JsonObject, stringOr } from "../json/Json.ts"
import { encodeMedia } from "./Media.ts"
import { needsSignatures } from "./Models.ts"
import { noSignature, signatureOf } from "./Part.ts"
import { writeResult } from "./ToolResult.ts"

interface Encoder {
  /** The client speaks this wire too: its own extras may be restored. */
  readonly own: boolean
  readonly log: DropLog
  /** The calls so far by id: a result must name its function. */
  readonly calls: Map<string, { readonly name: string; readonly order: number }>
}

interface Turn {
  readonly role: "user" | "model"
  readonly parts: Array<JsonObject>
  extras: JsonObject | undefined
}

const encodeCall = (part: ToolCallPart, { calls, log, own }: Encoder): JsonObject => {
  if (part.kind === "custom" || argsObject(part.args) === null) log.map("toolArgs")
  calls.set(part.id, { name: part.name, order: calls.size })
  const args = part.kind === "custom" ? { input: part.args } : argsAsObject(part.args)
  return {
    functionCall: { id: part.id, name: part.name, args, ...(own ? part.inner : {}) },
    ...signatureOf(part.state),
    ...(own ? part.extras : {})
  }
}

const noteMarks = (part: Part, log: DropLog): void => {
  if ("cacheControl" in part && part.cacheControl !== undefined) log.dropField("cache_control")
  if (part.type === "text" && part.citations !== undefined) log.drop("citations")
}

const encodePart = (part: Part, encoder: Encoder): JsonObject | null => {
  const { log, own } = encoder
  noteMarks(part, log)
  switch (part.type) {
    case "text":
      // An empty text has no meaning unless it carries a signature.
      if (part.text === "" && part.state === undefined && !own) return null
      return { text: part.text, ...signatureOf(part.state), ...(own ? part.extras : {}) }
    case "refusal":
      return part.text === "" ? null : { text: part.text }
    case "image":
    case "audio":
    case "file":
      return encodeMedia(part, own, log)
    case "reasoning":
      if (own || part.state?.wire === "gemini") {
        return { text: part.text, thought: true, ...signatureOf(part.state), ...(own ? part.extras : {}) }
      }
      // Reasoning without a signature of this wire is not accepted back.
      log.drop("reasoningHistory")
      return null
    case "tool_call":
      return encodeCall(part, encoder)
    case "opaque":
      if (part.wire === "gemini") return part.value
      log.loseField(`messages.content.${part.kind}`)
      return null
    case "tool_result":
      return null
  }
}

const encodeResult = (result: ToolResultPart, encoder: Encoder, beside: Array<JsonObject>): JsonObject => {
  const { calls, log, own } = encoder
  noteMarks(result, log)
  const texts: Array<string> = []
  const media: Array<JsonObject> = []
  for (const part of result.content) {
    if (part.type === "text") texts.push(part.text)
    const encoded = part.type === "text" ? null : encodePart(part, encoder)
    if (encoded !== null) media.push(encoded)
  }
  // Not every model takes media inside a result: those of other wires follow the results.
  if (!own && media.length > 0) {
    log.map("toolResultImage")
    for (const part of media) beside.push(part)
  }
  const { name: orphanName, ...inner } = own ? (result.inner ?? {}) : {}
  const name = calls.get(result.callId)?.name ?? stringOr(orphanName) ?? "tool"
  const text = texts.join("\n")
  return {
    functionResponse: {
      id: result.callId,
      name,
      response: writeResult({ text, isError: result.isError }, name, own),
      ...(own && media.length > 0 ? { parts: media } : {}),
      ...inner
    },
    ...(own ? result.extras : {})
  }
}

/**
 * Encodes the results in the client's order, unless one function was called twice: servers without ids match those by
 * the order of the calls.
 */
const encodeResults = (message: Message, encoder: Encoder): ReadonlyArray<JsonObject> => {
  const callOf = (result: ToolResultPart) => encoder.calls.get(result.callId)
  const orderOf = (result: ToolResultPart): number => callOf(result)?.order ?? encoder.calls.size
  const given = message.parts.flatMap((part) => (part.type === "tool_result" ? part : []))
  const names = new Set(given.map((result) => callOf(result)?.name ?? result.callId))
  const results = names.size === given.length ? given : given.toSorted((a, b) => orderOf(a) - orderOf(b))
  const beside: Array<JsonObject> = []
  return [...results.map((result) => encodeResult(result, encoder, beside)), ...beside]
}

/** Consecutive messages of one role become one content, so that the results of all calls are together. */
const pushTurn = (turns: Array<Turn>, turn: Turn): void => {
  if (turn.parts.length === 0) return
  const last = turns.at(-1)
  if (last?.role !== turn.role) turns.push(turn)
  else {
    for (const part of turn.parts) last.parts.push(part)
    if (turn.extras !== undefined) last.extras = { ...last.extras, ...turn.extras }
  }
}

/** The first call of a step must carry a signature. */
const signSteps = (turns: ReadonlyArray<Turn>, log: DropLog): void => {
  for (const { parts } of turns) {
    const first = parts.findIndex((part) => part["functionCall"] !== undefined)
    const part = parts[first]
    if (part !== undefined && part["thoughtSignature"] === undefined) {
      parts[first] = { ...part, thoughtSignature: noSignature }
      log.map("signature")
    }
  }
}

const noteMessage = (message: Message, { log, own }: Encoder): void => {
  if (message.name !== undefined) log.dropField("messages.name")
  if (!own) for (const key of Object.keys(message.extras ?? {})) log.dropField(`messages.${key}`)
}

/**
 * System and developer messages before the first turn are `systemInstruction`; later ones stay in place as marked user text. A
 * conversation that has no other messages is sent as the user's.
 */
export const encodeMessages = (conversation: Conversation, model: string, log: DropLog): JsonObject => {
  const encoder: Encoder = { own: conversation.wire === "gemini", log, calls: new Map() }
  const { head, rest } = splitSystem(conversation.messages)
  const partsOf = (message: Message): Array<JsonObject> => {
    noteMessage(message, encoder)
    return message.role === "tool"
      ? [...encodeResults(message, encoder)]
      : message.parts.flatMap<JsonObject>((part) => encodePart(part, encoder) ?? [])
  }
  const system = head.flatMap(partsOf)
  const turns: Array<Turn> = []
  for (const message of rest) {
    const between = isSystem(message)
    if (between) log.mapField("messages.role")
    const parts = partsOf(between ? asMarkedUser(message) : message)
    pushTurn(turns, { role: message.role === "assistant" ? "model" : "user", parts, extras: message.extras })
  }
  if (turns.length === 0) {
    const spoken = system.pop()
    if (spoken !== undefined) {
      log.mapField("messages.role")
      turns.push({ role: "user", parts: [spoken], extras: undefined })
    }
  }
  if (needsSignatures(model)) signSteps(turns, log)
  const contents = turns.map(({ extras, parts, role }) =>
    encoder.own && extras !== undefined ? Object.assign({ role, parts }, extras) : { role, parts }
  )
  const beside = encoder.own ? head.map(({ extras }) => extras ?? {}) : []
  return {
    ...(system.length === 0 ? {} : { systemInstruction: Object.assign({ parts: system }, ...beside) }),
    contents
  }
}
