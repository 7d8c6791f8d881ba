/**
 * Response object → canonical response, and the facts for the usage row when it is relayed as it is.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import * as Either from "effect/Either"
import type { UpstreamProblem } from "../canonical/Event.ts"
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { isArray, isObject, type JsonObject, numberOr, stringOr } from "../json/Json.ts"
import { problemOfJson, streamProblem } from "../UpstreamError.ts"
import type { AnswerFacts } from "../WireCodec.ts"
import { citationsOf } from "./Content.ts"
import { pictureOf } from "./Pictures.ts"
import { reasoningText, stateOf } from "./Reasoning.ts"
import { searchOf } from "./Searches.ts"
import { decodeStop } from "./Stop.ts"
import { usageOf } from "./Usage.ts"

const problem = (message: string): UpstreamProblem => ({ status: 502, message, type: null, code: null })

const opaque = (item: JsonObject): AnswerPart => ({
  type: "opaque",
  wire: "responses",
  kind: stringOr(item["type"]) ?? "",
  value: item,
  ...pictureOf(item),
  ...searchOf(item)
})

const decodeContentPart = (part: JsonObject): AnswerPart | null => {
  if (part["type"] === "refusal") return { type: "refusal", text: stringOr(part["refusal"]) ?? "" }
  const text = stringOr(part["text"])
  return text === null ? null : { type: "text", text, ...citationsOf(part) }
}

const contentOf = (item: JsonObject): ReadonlyArray<JsonObject> =>
  isArray(item["content"]) ? item["content"].filter(isObject) : []

/** Reasoning without text or state (an id alone) is left out. */
const decodeReasoning = (item: JsonObject): ReadonlyArray<AnswerPart> => {
  const text = reasoningText(item)
  const state = stateOf(item)
  if (text === "" && state?.encrypted === undefined) return []
  return [{ type: "reasoning", text, ...(state === undefined ? {} : { state }) }]
}

const decodeItem = (item: JsonObject): ReadonlyArray<AnswerPart> => {
  switch (item["type"]) {
    case "message":
      return contentOf(item).flatMap((part) => decodeContentPart(part) ?? [])
    case "reasoning":
      return decodeReasoning(item)
    case "function_call":
    case "custom_tool_call": {
      const custom = item["type"] === "custom_tool_call"
      return [
        {
          type: "tool_call",
          id: stringOr(item["call_id"]) || (stringOr(item["id"]) ?? ""),
          name: stringOr(item["name"]) ?? "",
          kind: custom ? "custom" : "function",
          args: custom ? (stringOr(item["input"]) ?? "") : argsText(item["arguments"])
        }
      ]
    }
    default:
      return [opaque(item)]
  }
}

const itemsOf = (body: JsonObject): ReadonlyArray<JsonObject> | null =>
  isArray(body["output"]) ? body["output"].filter(isObject) : null

/** Log probabilities of all texts, concatenated, in the form of the chat wire. */
const logprobsOf = (items: ReadonlyArray<JsonObject>): JsonObject | null => {
  const content = items.flatMap((item) =>
    contentOf(item).flatMap((part) => (isArray(part["logprobs"]) ? part["logprobs"] : []))
  )
  return content.length === 0 ? null : { content }
}

const stopOf = (body: JsonObject, parts: ReadonlyArray<AnswerPart>) =>
  decodeStop(
    body,
    parts.some((part) => part.type === "tool_call")
  )

export const decodeResponse = (body: JsonObject, dialect?: Dialect): Either.Either<Response, UpstreamProblem> => {
  // A failed response has its error in `error`.
  if (isObject(body["error"])) return Either.left(streamProblem({ error: body["error"] }))
  const items = itemsOf(body)
  if (items === null) {
    return Either.left(problemOfJson(502, body) ?? problem("The upstream's answer holds no output."))
  }
  const parts = items.flatMap(decodeItem)
  const stop = stopOf(body, parts)
  if (stop === null) return Either.left(problem(`The upstream's answer is not whole: ${String(body["status"])}.`))
  const created = numberOr(body["created_at"])
  return Either.right({
    id: stringOr(body["id"]),
    model: stringOr(body["model"]),
    createdMs: created === null ? null : created * 1000,
    parts,
    stop,
    usage: usageOf(body, dialect),
    logprobs: logprobsOf(items)
  })
}

export const readAnswer = (body: JsonObject, dialect?: Dialect): AnswerFacts => {
  // Without output, or with an error, it is not an answer, whatever its status.
  const isAnswer = itemsOf(body) !== null && !isObject(body["error"])
  const parts = (itemsOf(body) ?? []).flatMap(decodeItem)
  let textChars = 0
  let toolArgChars = 0
  let reasoningChars = 0
  let others = 0
  for (const part of parts) {
    if (part.type === "text" || part.type === "refusal") textChars += part.text.length
    else if (part.type === "reasoning") reasoningChars += part.text.length
    else others += 1
    if (part.type === "tool_call") toolArgChars += part.args.length
  }
  return {
    usage: usageOf(body, dialect),
    stop: isAnswer ? stopOf(body, parts) : null,
    hasContent: textChars + reasoningChars + others > 0,
    textChars,
    toolArgChars,
    reasoningChars
  }
}
