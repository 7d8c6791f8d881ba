/**
 * Size of a request's prompt, where the upstream has not reported it: its texts in tokens, pictures by their pixels, sound by its
 * seconds and documents by their pages, as the makers of the model publish it. Never by the bytes of its JSON. Pure.
 */
import * as Either from "effect/Either"
import { familyOf } from "../tokens/Family.ts"
import { reckon, totalOf } from "../tokens/TokenEstimate.ts"
import { estimateTexts } from "../tokens/TextEstimate.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../wire/json/Json.ts"
import type { PlainPrompt } from "../../wire/WireCodec.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"

export interface Prompt {
  readonly parsed: JsonObject
  /** Texts of the prompt, where the wire reads them without decoding the request; null: it is to be decoded. */
  readonly plain?: PlainPrompt | null
  readonly conversation: () => Either.Either<Conversation, unknown>
}

/** Values of a body without a conversation that are looked at. */
const mostValues = 10_000

/** A string that is no text: a picture or a file in an address, or in base64. */
const isData = (text: string): boolean =>
  text.startsWith("data:") || (text.length > 512 && !/\s/.test(text.slice(0, 512)))

/** All that reads as text in a body (of an embedding, of a conversation that only its own wire understands). */
const textsIn = (body: Json): ReadonlyArray<string> => {
  const texts: Array<string> = []
  const open: Array<Json> = [body]
  for (let seen = 0; seen < mostValues; seen += 1) {
    const value = open.pop()
    if (value === undefined) break
    if (typeof value === "string") {
      if (!isData(value)) texts.push(value)
    } else if (isArray(value)) for (const inner of value) open.push(inner)
    else if (isObject(value)) for (const inner of Object.values(value)) if (inner !== undefined) open.push(inner)
  }
  return texts
}

/** The texts that the tokeniser would have to count for a model. */
export const promptTexts = ({ conversation, parsed }: Prompt, model: string): ReadonlyArray<string> => {
  const decoded = Either.getOrNull(conversation())
  return decoded === null ? textsIn(parsed) : reckon(decoded, familyOf(model)).texts
}

/** `textTokens`: what the tokeniser has counted; null where it was not asked; then its count is guessed. */
export const promptTokens = (prompt: Prompt, model: string, textTokens: number | null = null): number => {
  const { plain = null } = prompt
  if (plain !== null) {
    const family = familyOf(model)
    const { messageCount, texts } = plain
    return totalOf(textTokens ?? estimateTexts(texts), { texts, fixed: messageCount * family.perMessage }, family)
  }
  const decoded = Either.getOrNull(prompt.conversation())
  if (decoded === null) return textTokens ?? estimateTexts(textsIn(prompt.parsed))
  const family = familyOf(model)
  const reckoning = reckon(decoded, family)
  return totalOf(textTokens ?? estimateTexts(reckoning.texts), reckoning, family)
}
