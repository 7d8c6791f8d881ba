/** Facts of a request to a model and its answer: tokens as the upstream reported them or estimated, cost, speed. Pure. */
import * as Either from "effect/Either"
import type { ModelPrice } from "../../../subjects/pricing/entity.ts"
import { nanoUsdPerUsd, noTokens, type TokenCounts } from "../../../contract/domain/Usage.ts"
import { registry } from "../../../plane/providers/Registry.ts"
import { familyOf } from "../../../plane/tokens/Family.ts"
import { reckon, totalOf } from "../../../plane/tokens/TokenEstimate.ts"
import { estimateTexts } from "../../../plane/tokens/TextEstimate.ts"
import { costNanoUsd } from "../../usage/Cost.ts"
import type { AnswerPart } from "../../../wire/canonical/Response.ts"
import { isArray, isObject, type JsonObject, stringOr } from "../../../wire/json/Json.ts"
import type { ApiKind, Llm } from "../../../contract/domain/TrafficRecord.ts"
import { type ReadAnswer, readAnswer } from "./Answer.ts"
import { codecOf, countTurns, type Format } from "./Format.ts"

/** Facts of a request by itself. Small: they are kept until the answer is there, which may take long. */
export interface RequestFacts {
  readonly apiKind: ApiKind
  /** Model as the client named it. */
  readonly model: string | null
  readonly messages: number
  /** True when a stream was asked for. */
  readonly wantsStream: boolean
  readonly estimatedTokens: number
  /** Part of the request that the reading of its answer needs. */
  readonly stub: JsonObject
}

/** Facts of an answer by itself. */
export interface AnswerFacts {
  /** Null without an answer that can be read. */
  readonly tokensOut: number | null
  /** Tokens as the upstream reported them; null when it did not. */
  readonly usage: TokenCounts | null
  readonly streamed: boolean
  /** The model as the answer named it. */
  readonly answeredBy: string | null
}

const textsOf = (part: AnswerPart): ReadonlyArray<string> => {
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
      return [part.text]
    case "tool_call":
      return [part.name, part.args]
    case "opaque":
      return [JSON.stringify(part.value)]
  }
}

const inputTexts = (body: Format["body"]): ReadonlyArray<string> => {
  const { input = body["prompt"] } = body
  return [typeof input === "string" ? input : JSON.stringify(input ?? body)]
}

/** Tokens of a request, by its texts. */
export const estimateRequest = ({ apiKind, body, codec }: Format): number => {
  const family = familyOf(stringOr(body["model"]) ?? "")
  const conversation = apiKind === "embeddings" ? null : Either.getOrNull(codec.decodeRequest(body))
  if (conversation === null) return Math.ceil(estimateTexts(inputTexts(body)) * family.factor)
  const reckoning = reckon(conversation, family)
  return totalOf(estimateTexts(reckoning.texts), reckoning, family)
}

const estimateAnswer = (parts: ReadonlyArray<AnswerPart>, model: string): number =>
  Math.ceil(estimateTexts(parts.flatMap(textsOf)) * familyOf(model).factor)

export interface AnswerText {
  readonly text: string
  readonly contentType: string
  /** True when only its beginning is known. */
  readonly isCut: boolean
}

export const requestFactsOf = (format: Format): RequestFacts => {
  const { apiKind, body } = format
  const model = stringOr(body["model"])
  return {
    apiKind,
    model: model === "" ? null : model,
    messages: countTurns(format),
    wantsStream: body["stream"] === true,
    estimatedTokens: estimateRequest(format),
    stub: {
      model: model ?? "",
      stream: body["stream"] === true,
      ...(isArray(body["requests"]) ? { requests: [] } : {}),
      ...(isObject(body["content"]) ? { content: {} } : {})
    }
  }
}

/** `path`: of the request. */
export const answerFactsOf = (
  { apiKind, model, stub, wantsStream }: RequestFacts,
  path: string,
  provider: string | null,
  answer: AnswerText | null
): AnswerFacts => {
  const format: Format = { apiKind, codec: codecOf(apiKind, path), body: stub }
  const dialect = provider === null ? undefined : registry.get(provider)?.dialect
  const read: ReadAnswer | null =
    answer === null ? null : readAnswer(format, answer.text, answer.contentType, { dialect, isCut: answer.isCut })
  const usage = read?.usage ?? null
  const generated =
    read === null
      ? null
      : apiKind === "embeddings"
        ? 0
        : estimateAnswer([read.parts, ...read.others].flat(), model ?? "")
  return {
    tokensOut: usage?.out ?? generated,
    usage,
    streamed: read?.streamed ?? wantsStream,
    answeredBy: read?.model ?? null
  }
}

export interface LlmContext {
  /** True when it was refused: nothing is paid for it. */
  readonly isRefused?: boolean
  readonly provider: string | null
  readonly mappedTo: string | null
  readonly ttftMs: number | null
  readonly totalMs: number | null
  readonly priceOf: (provider: string, model: string) => ModelPrice | null
}

const costOf = (
  { estimatedTokens, model }: RequestFacts,
  { answeredBy, tokensOut, usage }: AnswerFacts,
  { isRefused, mappedTo, priceOf, provider }: LlmContext
): number | null => {
  if (isRefused === true) return 0
  if (provider === null || tokensOut === null) return null
  const tokens = usage ?? { ...noTokens, in: estimatedTokens, out: tokensOut }
  for (const name of [mappedTo, answeredBy, model]) {
    const price = name === null ? null : priceOf(provider, name)
    if (price !== null) return costNanoUsd(tokens, price) / nanoUsdPerUsd
  }
  return null
}

/** Tokens of the answer for each second of its generation; null when that took no time or is unknown. */
const speedOf = (tokensOut: number | null, totalMs: number | null, ttftMs: number | null): number | null => {
  const generatedMs = totalMs === null ? 0 : totalMs - (ttftMs ?? 0)
  return tokensOut === null || tokensOut === 0 || generatedMs <= 0
    ? null
    : Math.round((tokensOut / generatedMs) * 100_000) / 100
}

/** Makes the facts until there is an answer. */
export const noAnswer = ({ wantsStream }: RequestFacts): AnswerFacts => ({
  tokensOut: null,
  usage: null,
  streamed: wantsStream,
  answeredBy: null
})

export const llmOf = (request: RequestFacts, answer: AnswerFacts, context: LlmContext): Llm => {
  const { streamed, tokensOut, usage } = answer
  const { mappedTo, provider, totalMs, ttftMs } = context
  return {
    provider,
    apiKind: request.apiKind,
    model: request.model,
    messages: request.messages,
    tokensIn: usage?.in ?? request.estimatedTokens,
    tokensOut,
    streamed,
    mappedTo,
    costEstimateUsd: costOf(request, answer, context),
    cacheRead: usage?.cacheRead ?? null,
    cacheWrite: usage?.cacheWrite ?? null,
    reasoning: usage?.reasoning ?? null,
    ttftMs,
    tokensPerSecond: speedOf(tokensOut, totalMs, ttftMs),
    tokensEstimated: usage === null
  }
}
