/** What is known of a request to a model and its answer: tokens as the upstream reported them or estimated, cost, speed. Pure. */
import * as Either from "effect/Either"
import type { ModelPrice } from "../../domain/Pricing.ts"
import { nanoUsdPerUsd, type TokenCounts } from "../../domain/Usage.ts"
import { registry } from "../../providers/Registry.ts"
import { familyOf } from "../../tokens/Family.ts"
import { reckon, totalOf } from "../../tokens/Reckoning.ts"
import { estimateTexts } from "../../tokens/TextEstimate.ts"
import { costNanoUsd } from "../../usage/Cost.ts"
import type { AnswerPart } from "../../wire/canonical/Response.ts"
import { stringOr } from "../../wire/json/Json.ts"
import type { ApiKind, Llm } from "../Record.ts"
import { type ReadAnswer, readAnswer } from "./Answer.ts"
import { countTurns, type Format } from "./Format.ts"

/** What request and answer tell by themselves. */
export interface LlmFacts {
  readonly apiKind: ApiKind
  /** As the client named it. */
  readonly model: string | null
  /** As the answer named it. */
  readonly answeredBy: string | null
  readonly messages: number
  readonly streamed: boolean
  /** Null without an answer, and without a request that can be read. */
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  /** As the upstream reported them; null when it did not. */
  readonly usage: TokenCounts | null
  readonly tokensEstimated: boolean
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
  /** Only its beginning is known. */
  readonly isCut: boolean
}

/** `answer` null: there is none (yet), or it is no text. */
export const llmFactsOf = (format: Format, provider: string | null, answer: AnswerText | null): LlmFacts => {
  const { apiKind, body } = format
  const dialect = provider === null ? undefined : registry.get(provider)?.dialect
  const read: ReadAnswer | null =
    answer === null ? null : readAnswer(format, answer.text, answer.contentType, { dialect, isCut: answer.isCut })
  const model = stringOr(body["model"])
  const usage = read?.usage ?? null
  const tokensOut =
    usage?.out ?? (read === null ? null : apiKind === "embeddings" ? 0 : estimateAnswer(read.parts, model ?? ""))
  return {
    apiKind,
    model: model === "" ? null : model,
    answeredBy: read?.model ?? null,
    messages: countTurns(format),
    streamed: read?.streamed ?? body["stream"] === true,
    tokensIn: usage?.in ?? estimateRequest(format),
    tokensOut,
    usage,
    tokensEstimated: usage === null
  }
}

export interface LlmContext {
  readonly provider: string | null
  readonly mappedTo: string | null
  readonly ttftMs: number | null
  readonly totalMs: number | null
  readonly priceOf: (provider: string, model: string) => ModelPrice | null
}

const costOf = (
  { answeredBy, model, tokensIn, tokensOut, usage }: LlmFacts,
  { mappedTo, priceOf, provider }: LlmContext
): number | null => {
  if (provider === null || tokensIn === null || tokensOut === null) return null
  const tokens = usage ?? { in: tokensIn, out: tokensOut, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
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

export const llmOf = (facts: LlmFacts, context: LlmContext): Llm => {
  const { apiKind, messages, model, streamed, tokensEstimated, tokensIn, tokensOut, usage } = facts
  const { mappedTo, provider, totalMs, ttftMs } = context
  return {
    provider,
    apiKind,
    model,
    messages,
    tokensIn,
    tokensOut,
    streamed,
    mappedTo,
    costEstimateUsd: costOf(facts, context),
    cacheRead: usage?.cacheRead ?? null,
    cacheWrite: usage?.cacheWrite ?? null,
    reasoning: usage?.reasoning ?? null,
    ttftMs,
    tokensPerSecond: speedOf(tokensOut, totalMs, ttftMs),
    tokensEstimated
  }
}
