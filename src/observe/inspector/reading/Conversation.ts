/** Request and answer as turns of a conversation, whatever the wire; the events as they were sent where the format is not known. Pure. */
import * as Either from "effect/Either"
import type { MediaSource, Part, Role } from "../../../wire/canonical/Conversation.ts"
import { isArray, isObject, type Json, parseJson, stringOr } from "../../../wire/json/Json.ts"
import type { Block, RecordStatus, Turn, TurnRole } from "../../../contract/domain/TrafficRecord.ts"
import { parsePerhapsCut, rawEventsOf, readAnswer } from "./Answer.ts"
import { contextKeyOf } from "./ContextKey.ts"
import { type Format, formatOf } from "./Format.ts"
import { reasonOf } from "./Reason.ts"

/** A body as it is shown: text, without the notice of its end. */
export interface ReadableBody {
  readonly text: string
  readonly contentType: string
  readonly isCut: boolean
}

export interface ReadableExchange {
  readonly path: string
  /** Null: there is none, or it is no text. */
  readonly request: ReadableBody | null
  readonly response: ReadableBody | null
  /** The status says that it was refused. */
  readonly isRefused?: boolean
}

/** One attempt of the prompt. */
export interface AttemptView {
  readonly id: string
  readonly attempt: number
  readonly timestamp: string
  readonly status: RecordStatus
  readonly error: string | null
}

export interface ConversationView {
  readonly request: ReadonlyArray<Turn>
  readonly response: ReadonlyArray<Turn>
  readonly contextKey: string | null
  /** Reason for which there is no answer, as the provider gives it; it is no turn of the assistant. */
  readonly error?: string
  readonly rawEvents?: ReadonlyArray<Json>
  /** All attempts, oldest first, where the prompt was asked again after failures. */
  readonly attempts?: ReadonlyArray<AttemptView>
}

const roleOf = (role: Role): TurnRole => (role === "developer" ? "system" : role)

const decodedBytes = (base64: string): number => Math.floor((base64.replace(/=+$/, "").length * 3) / 4)

const mediaOf = (source: MediaSource, fallback: string): Block => {
  switch (source.kind) {
    case "base64":
      return { type: "media", mediaType: source.mediaType, bytes: decodedBytes(source.data) }
    case "text":
      return { type: "media", mediaType: "text/plain", bytes: Buffer.byteLength(source.text) }
    case "url":
    case "file_id":
      return { type: "media", mediaType: fallback, bytes: 0 }
  }
}

/** Arguments of a call as the value they are; the text itself where they are none. */
const inputOf = (args: string): unknown => parseJson(args) ?? args

/** Calls that a provider runs itself are calls like others; the rest of what only one wire has is shown as it is. */
const foreignBlock = (value: { readonly [key: string]: Json | undefined }): Block => {
  const type = stringOr(value["type"]) ?? ""
  if (/tool_(?:use|call)$|_call$/.test(type)) {
    return {
      type: "tool_use",
      id: stringOr(value["id"]) ?? stringOr(value["call_id"]) ?? "",
      name: stringOr(value["name"]) ?? type,
      input: value["input"] ?? value["action"] ?? value["arguments"] ?? {}
    }
  }
  if (/tool_result$|_output$/.test(type)) {
    return {
      type: "tool_result",
      tool_use_id: stringOr(value["tool_use_id"]) ?? stringOr(value["call_id"]) ?? "",
      content: value["content"] ?? value["output"] ?? null
    }
  }
  return { type: "text", text: JSON.stringify(value) }
}

export const blockOf = (part: Part): Block => {
  switch (part.type) {
    case "text":
    case "refusal":
      return { type: "text", text: part.text }
    case "reasoning": {
      const { encrypted, signature } = part.state ?? {}
      return { type: "thinking", text: part.text, signed: signature !== undefined || encrypted !== undefined }
    }
    case "tool_call":
      return { type: "tool_use", id: part.id, name: part.name, input: inputOf(part.args) }
    case "tool_result": {
      const blocks = part.content.map(blockOf)
      const [only] = blocks
      const content = blocks.length === 1 && only?.type === "text" ? only.text : blocks.length === 0 ? "" : blocks
      return { type: "tool_result", tool_use_id: part.callId, content }
    }
    case "image":
      return mediaOf(part.source, "image/*")
    case "audio":
      return { type: "media", mediaType: `audio/${part.format}`, bytes: decodedBytes(part.data) }
    case "file":
      return mediaOf(part.source, "application/octet-stream")
    case "opaque":
      return foreignBlock(part.value)
  }
}

const requestTurns = ({ apiKind, body, codec }: Format): ReadonlyArray<Turn> | null => {
  if (apiKind === "embeddings") {
    const { input } = body
    const texts =
      typeof input === "string" ? [input] : isArray(input) ? input.filter((each) => typeof each === "string") : []
    return [{ role: "user", blocks: texts.map((text) => ({ type: "text", text })) }]
  }
  const conversation = Either.getOrNull(codec.decodeRequest(body))
  return conversation?.messages.map(({ parts, role }) => ({ role: roleOf(role), blocks: parts.map(blockOf) })) ?? null
}

export const conversationOf = ({ isRefused = false, path, request, response }: ReadableExchange): ConversationView => {
  const body = request === null ? undefined : parsePerhapsCut(request.text, request.isCut)
  const format = formatOf(path, body)
  const turns = format === null ? null : requestTurns(format)
  const contextKey = isObject(body) ? contextKeyOf(format?.body ?? body) : null
  const answer =
    format === null || response === null
      ? null
      : readAnswer(format, response.text, response.contentType, { isCut: response.isCut })
  const choices = answer === null ? [] : [answer.parts, ...answer.others].filter((parts) => parts.length > 0)
  const isRead = choices.length > 0 && !isRefused
  const error = isRead || response === null ? null : reasonOf(response.text)
  const view = {
    request: turns ?? [],
    // A turn for each choice.
    response: isRead ? choices.map((parts) => ({ role: "assistant" as const, blocks: parts.map(blockOf) })) : [],
    contextKey,
    ...(error === null ? {} : { error })
  }
  const isKnown = turns !== null && (response === null || isRead || error !== null || format?.apiKind === "embeddings")
  return isKnown || response === null ? view : { ...view, rawEvents: rawEventsOf(response.text, response.contentType) }
}
