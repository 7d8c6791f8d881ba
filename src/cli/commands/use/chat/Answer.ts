/** An answer as far as it has come, event by event. Pure. */
import * as Predicate from "effect/Predicate"
import { textAt } from "../../../gateway/Client.ts"
import type { ChatEvent } from "../../../gateway/ChatStream.ts"

export interface Answer {
  readonly text: string
  /** Text by which the model refuses to answer. */
  readonly refusal: string
  /** Parts that are no text, such as images. */
  readonly others: number
  readonly isThinking: boolean
  readonly finishReason: string | null
  /** Usage as the wire has it; null: not reported. */
  readonly usage: Readonly<Record<string, unknown>> | null
  /** The message of an error event, or what broke. */
  readonly error: string | null
  readonly isDone: boolean
}

export const begun: Answer = {
  text: "",
  refusal: "",
  others: 0,
  isThinking: false,
  finishReason: null,
  usage: null,
  error: null,
  isDone: false
}

const cut = "The answer broke off before its end."

/** Members of a delta that no command shows. */
const imagesIn = (chunk: unknown): number => {
  const [choice] = arrayAt(chunk, "choices")
  const delta = Predicate.hasProperty(choice, "delta") ? choice.delta : null
  return arrayAt(delta, "images").length
}

const arrayAt = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const found = Predicate.hasProperty(value, name) ? value[name] : null
  return Array.isArray(found) ? found : []
}

const errorOf = (chunk: unknown): string | null => {
  if (!Predicate.hasProperty(chunk, "error") || chunk.error === null || chunk.error === undefined) return null
  return textAt(chunk, "error", "message") ?? textAt(chunk, "error") ?? "The answer ended with an error."
}

/** The answer after one more event. Nothing changes it after its end. */
export const next = (answer: Answer, event: ChatEvent): Answer => {
  if (answer.isDone || answer.error !== null) return answer
  if (event._tag === "Done") return { ...answer, isDone: true }
  if (event._tag === "Broken") return { ...answer, error: cut }
  const { chunk } = event
  const error = errorOf(chunk)
  if (error !== null) return { ...answer, error }
  const text = textAt(chunk, "choices", 0, "delta", "content") ?? ""
  const reasoning =
    textAt(chunk, "choices", 0, "delta", "reasoning_content") ?? textAt(chunk, "choices", 0, "delta", "reasoning")
  const usage = Predicate.hasProperty(chunk, "usage") && Predicate.isRecord(chunk.usage) ? chunk.usage : answer.usage
  return {
    text: answer.text + text,
    refusal: answer.refusal + (textAt(chunk, "choices", 0, "delta", "refusal") ?? ""),
    others: answer.others + imagesIn(chunk),
    isThinking: answer.isThinking || (reasoning ?? "") !== "",
    finishReason: textAt(chunk, "choices", 0, "finish_reason") ?? answer.finishReason,
    usage,
    error: null,
    isDone: false
  }
}

/** Describes why an answer that has ended is not a whole one; null: it is. */
export const problemOf = ({ error, finishReason, refusal }: Answer): string | null => {
  if (error !== null) return error
  if (refusal !== "") return `The model refused to answer: ${refusal}`
  if (finishReason === "content_filter") return "The provider's content filter ended the answer."
  return finishReason === null ? cut : null
}

/** Tokens of the prompt and of the answer; null: not reported. */
export const tokensOf = ({ usage }: Answer): { readonly in: number; readonly out: number } | null => {
  const prompt = usage?.["prompt_tokens"]
  const completion = usage?.["completion_tokens"]
  return typeof prompt === "number" && typeof completion === "number" ? { in: prompt, out: completion } : null
}
