/**
 * Message → canonical response, and the facts for the usage row when it is relayed as it is.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import * as Either from "effect/Either"
import type { UpstreamProblem } from "../canonical/Event.ts"
import { citationsIn } from "../canonical/Links.ts"
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { isArray, isObject, type JsonObject, stringOr } from "../json/Json.ts"
import { problemOfJson } from "../UpstreamError.ts"
import type { AnswerFacts } from "../WireCodec.ts"
import { makeSearchReader, type SearchReader } from "./Searches.ts"
import { decodeStop } from "./Stop.ts"
import { makeUsageReader } from "./Usage.ts"

const problem = (message: string): UpstreamProblem => ({ status: 502, message, type: null, code: null })

const decodeBlock = (block: JsonObject, searches: SearchReader): AnswerPart => {
  const kind = stringOr(block["type"]) ?? ""
  switch (kind) {
    case "text": {
      const text = stringOr(block["text"]) ?? ""
      return { type: "text", text, ...citationsIn("messages", block["citations"], text.length) }
    }
    case "thinking": {
      const signature = stringOr(block["signature"]) ?? ""
      const state = signature === "" ? {} : { state: { wire: "messages" as const, signature } }
      return { type: "reasoning", text: stringOr(block["thinking"]) ?? "", ...state }
    }
    case "redacted_thinking":
      return { type: "reasoning", text: "", state: { wire: "messages", encrypted: stringOr(block["data"]) ?? "" } }
    case "tool_use": {
      const id = stringOr(block["id"]) ?? ""
      const name = stringOr(block["name"]) ?? ""
      return { type: "tool_call", id, name, kind: "function", args: argsText(block["input"]) }
    }
    default:
      return { type: "opaque", wire: "messages", kind, value: block, ...searches.read(block) }
  }
}

const decodeBlocks = (blocks: ReadonlyArray<JsonObject>): ReadonlyArray<AnswerPart> => {
  const searches = makeSearchReader()
  return blocks.map((block) => decodeBlock(block, searches))
}

const blocksOf = (body: JsonObject): ReadonlyArray<JsonObject> | null => {
  const content = body["content"]
  return isArray(content) ? content.filter(isObject) : null
}

const usageOf = (body: JsonObject, dialect: Dialect | undefined) =>
  isObject(body["usage"]) ? makeUsageReader(dialect)(body["usage"]) : null

export const decodeResponse = (body: JsonObject, dialect?: Dialect): Either.Either<Response, UpstreamProblem> => {
  const blocks = blocksOf(body)
  if (blocks === null || body["type"] === "error") {
    return Either.left(problemOfJson(502, body) ?? problem("The upstream's answer holds no content."))
  }
  const stop = decodeStop(body)
  if (stop === null) return Either.left(problem("The upstream's answer is incomplete: it has no stop reason."))
  return Either.right({
    id: stringOr(body["id"]),
    model: stringOr(body["model"]),
    createdMs: null,
    parts: decodeBlocks(blocks),
    stop,
    usage: usageOf(body, dialect),
    logprobs: null
  })
}

export const readAnswer = (body: JsonObject, dialect?: Dialect): AnswerFacts => {
  const parts = decodeBlocks(blocksOf(body) ?? [])
  let textChars = 0
  let toolArgChars = 0
  let reasoningChars = 0
  let others = 0
  for (const part of parts) {
    if (part.type === "text") textChars += part.text.length
    else if (part.type === "reasoning") reasoningChars += part.text.length
    else others += 1
    if (part.type === "tool_call") toolArgChars += part.args.length
  }
  return {
    usage: usageOf(body, dialect),
    stop: decodeStop(body),
    hasContent: textChars + reasoningChars + others > 0,
    textChars,
    toolArgChars,
    reasoningChars
  }
}
