/**
 * Chat completion → canonical response, and the facts for the usage row when it is relayed as it is.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import * as Either from "effect/Either"
import type { Dialect } from "../../contract/domain/Dialect.ts"
import type { Citation } from "../canonical/Conversation.ts"
import type { UpstreamProblem } from "../canonical/Event.ts"
import { citationsIn, hitOf, ownCitation } from "../canonical/Links.ts"
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { isArray, isObject, type JsonObject, numberOr, objectOr, stringOr } from "../json/Json.ts"
import { problemOfJson } from "../UpstreamError.ts"
import type { AnswerFacts } from "../WireCodec.ts"
import { callsOf, firstChoice, imagesOf, reasoningOf, refusalOf, soundOf, textOf } from "./Message.ts"
import { decodeStop } from "./Stop.ts"
import { usageOf } from "./Usage.ts"

const problem = (message: string): UpstreamProblem => ({ status: 502, message, type: null, code: null })

/** Pages that a search model tells beside its answer, where it has no annotations. */
const maxPages = 100

/** Reads the pages of some search models: https://docs.perplexity.ai/guides/chat-completions-guide. */
export const pagesOf = (body: JsonObject): ReadonlyArray<Citation> => {
  const { citations, search_results: results } = body
  const listed = isArray(results) && results.length > 0 ? results : isArray(citations) ? citations : []
  return listed.slice(0, maxPages).flatMap((page) => {
    const hit = hitOf(typeof page === "string" ? { url: page } : page)
    return hit === null ? [] : ownCitation({ ...hit, text: hit.snippet, start: null, end: null })
  })
}

const citationsOf = (message: JsonObject, body: JsonObject): { readonly citations?: ReadonlyArray<Citation> } => {
  const own = citationsIn("chat", message["annotations"], null)
  const pages = own.citations === undefined ? pagesOf(body) : []
  return pages.length === 0 ? own : { citations: pages }
}

const partsOf = (message: JsonObject, responseId: string, body: JsonObject): ReadonlyArray<AnswerPart> => {
  const reasoning = reasoningOf(message)
  const text = textOf(message)
  const refusal = refusalOf(message)
  return [
    ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(text === "" ? [] : [{ type: "text" as const, text, ...citationsOf(message, body) }]),
    ...(refusal === "" ? [] : [{ type: "refusal" as const, text: refusal }]),
    ...soundOf(message),
    ...imagesOf(message),
    ...callsOf(message).map((call, index) => ({
      type: "tool_call" as const,
      id: call.id ?? inventedId(responseId, index),
      name: call.name ?? "",
      kind: call.kind,
      args: call.kind === "custom" ? call.args : argsText(call.args)
    }))
  ]
}

/** An id for a call that came without one; stable for the same answer. */
export const inventedId = (responseId: string, index: number): string =>
  `call_${responseId.replaceAll(/[^a-zA-Z0-9_-]/g, "").slice(-24)}_${index}`

export const decodeResponse = (body: JsonObject, dialect?: Dialect): Either.Either<Response, UpstreamProblem> => {
  const choice = firstChoice(body)
  if (choice === undefined) {
    return Either.left(problemOfJson(502, body) ?? problem("The upstream's answer holds no choices."))
  }
  const finish = stringOr(choice["finish_reason"]) ?? ""
  if (finish === "" || finish === "error") {
    return Either.left(
      problemOfJson(502, body) ?? problem("The upstream's answer is incomplete: it has no finish reason.")
    )
  }
  const id = stringOr(body["id"])
  const parts = partsOf(objectOr(choice["message"]), id ?? "", body)
  const created = numberOr(body["created"])
  const logprobs = choice["logprobs"]
  return Either.right({
    id,
    model: stringOr(body["model"]),
    createdMs: created === null ? null : created * 1000,
    parts,
    stop: decodeStop(
      finish,
      parts.some((part) => part.type === "tool_call")
    ),
    usage: usageOf(body, choice, dialect),
    logprobs: isObject(logprobs) ? logprobs : null
  })
}

export const readAnswer = (body: JsonObject, dialect?: Dialect): AnswerFacts => {
  const choices = body["choices"]
  const first = firstChoice(body)
  let textChars = 0
  let toolArgChars = 0
  let reasoningChars = 0
  let calls = 0
  let images = 0
  for (const choice of isArray(choices) ? choices : []) {
    const message = objectOr(objectOr(choice)["message"])
    textChars += textOf(message).length + refusalOf(message).length
    reasoningChars += reasoningOf(message).length
    images += imagesOf(message).length
    for (const call of callsOf(message)) {
      calls += 1
      toolArgChars += call.args.length
    }
  }
  const finish = stringOr(first?.["finish_reason"]) ?? ""
  return {
    usage: usageOf(body, first, dialect),
    stop: finish === "" || finish === "error" ? null : decodeStop(finish, calls > 0),
    hasContent: textChars + reasoningChars + calls + images > 0,
    textChars,
    toolArgChars,
    reasoningChars
  }
}
