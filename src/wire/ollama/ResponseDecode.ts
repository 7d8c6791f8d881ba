/**
 * Ollama answer of either endpoint → canonical response, and the facts for the usage row when it is relayed as it is.
 *
 * https://docs.ollama.com/api/chat
 */
import * as Either from "effect/Either"
import type { UpstreamProblem } from "../canonical/Event.ts"
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { isArray, type JsonObject, stringOr } from "../json/Json.ts"
import { problemOfJson } from "../UpstreamError.ts"
import type { AnswerFacts } from "../WireCodec.ts"
import { callsOf, isErrorLine, picturesOf, contentOf, textOf, thinkingOf } from "./Piece.ts"
import { decodeStop } from "./Stop.ts"
import { fromTimestamp } from "./Timestamp.ts"
import { usageOf } from "./Usage.ts"

const problem = (message: string): UpstreamProblem => ({ status: 502, message, type: null, code: null })

const partsOf = (content: JsonObject, createdAt: string): ReadonlyArray<AnswerPart> => {
  const thinking = thinkingOf(content)
  const text = textOf(content)
  return [
    ...(thinking === "" ? [] : [{ type: "reasoning" as const, text: thinking }]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...picturesOf(content),
    ...callsOf(content, createdAt, 0).map(({ args, id, name }) => ({
      type: "tool_call" as const,
      id,
      name,
      kind: "function" as const,
      args
    }))
  ]
}

export const decodeResponse = (body: JsonObject): Either.Either<Response, UpstreamProblem> => {
  const content = contentOf(body)
  if (content === null || isErrorLine(body)) {
    return Either.left(problemOfJson(502, body) ?? problem("The upstream's answer holds no message."))
  }
  const createdAt = stringOr(body["created_at"])
  const parts = partsOf(content, createdAt ?? "")
  const stop = decodeStop(
    body,
    parts.some((part) => part.type === "tool_call")
  )
  if (stop === null) return Either.left(problem("The upstream's answer is incomplete: it is not done."))
  const { logprobs } = body
  return Either.right({
    id: null,
    model: stringOr(body["model"]),
    createdMs: fromTimestamp(createdAt),
    parts,
    stop,
    usage: usageOf(body),
    logprobs: isArray(logprobs) ? { content: logprobs } : null
  })
}

export const readAnswer = (body: JsonObject): AnswerFacts => {
  const content = contentOf(body) ?? {}
  const calls = callsOf(content, "", 0)
  const textChars = textOf(content).length
  const reasoningChars = thinkingOf(content).length
  return {
    usage: usageOf(body),
    stop: decodeStop(body, calls.length > 0),
    hasContent: textChars + reasoningChars + calls.length + picturesOf(content).length > 0,
    textChars,
    toolArgChars: calls.reduce((sum, { args }) => sum + args.length, 0),
    reasoningChars
  }
}
