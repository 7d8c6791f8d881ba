/**
 * Reads chat completion chunks for a tap.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events
 */
import { type MutableFacts, observeReasoning, observeText, observeToolArgs } from "../canonical/Facts.ts"
import { mergeUsage } from "../canonical/Usage.ts"
import { isArray, isObject, type JsonObject, objectOr, parseJson, stringOr } from "../json/Json.ts"
import { makeSseTap, type TapReader, type Verdict } from "../sse/SseTap.ts"
import { streamProblem } from "../UpstreamError.ts"
import type { StreamTap, TapOptions } from "../WireCodec.ts"
import { callsOf, firstChoice, imagesOf, reasoningOf, refusalOf, textOf } from "./Message.ts"
import { inferredStop } from "../canonical/Response.ts"
import { encodeSse } from "../sse/SseScanner.ts"
import { decodeStop, finishReasons } from "./Stop.ts"
import { decodeUsage, findUsage } from "./Usage.ts"

const keyCount = (object: JsonObject): number => Object.keys(object).length

/** The text of a chunk with one choice whose delta holds only text. */
const plainTextOf = (choices: ReadonlyArray<unknown>, chunk: JsonObject): string | null => {
  const [choice] = choices
  if (choices.length !== 1 || !isObject(choice) || (choice["finish_reason"] ?? null) !== null) return null
  if ((chunk["usage"] ?? null) !== null || chunk["x_groq"] !== undefined || (choice["index"] ?? 0) !== 0) return null
  const delta = objectOr(choice["delta"])
  const text = delta["content"]
  return typeof text === "string" && text !== "" && keyCount(delta) === 1 ? text : null
}

const makeReader = ({ dialect, hideUsage }: TapOptions): TapReader => {
  // Answers beyond the first (`n` > 1) that have begun and not finished.
  const open = new Set<number>()
  let calls = 0
  let finish: string | null = null
  /** The latest chunk, as the frame of one that has to be made. */
  let last: JsonObject = {}

  const readChoice = (choice: JsonObject, facts: MutableFacts): void => {
    const delta = objectOr(choice["delta"])
    observeText(facts, textOf(delta))
    observeText(facts, refusalOf(delta))
    observeReasoning(facts, reasoningOf(delta))
    facts.content ||= imagesOf(delta).length > 0
    for (const call of callsOf(delta)) {
      calls += 1
      observeToolArgs(facts, call.args)
    }
    const index = choice["index"]
    const reason = stringOr(choice["finish_reason"]) ?? ""
    if (typeof index === "number" && index !== 0) {
      if (reason === "") open.add(index)
      else open.delete(index)
    } else if (reason !== "") finish = reason
  }

  const readChunk = (chunk: JsonObject, facts: MutableFacts): Verdict => {
    const choices = isArray(chunk["choices"]) ? chunk["choices"] : []
    const first = firstChoice(chunk)
    const failed = isObject(chunk["error"]) || typeof chunk["error"] === "string"
    if (failed || first?.["finish_reason"] === "error") {
      facts.problem = streamProblem(chunk)
      return "withhold"
    }
    last = chunk
    const plainText = plainTextOf(choices, chunk)
    if (plainText !== null) return { plainText }
    for (const choice of choices) if (isObject(choice)) readChoice(choice, facts)
    if (finish !== null && open.size === 0) facts.stop = decodeStop(finish, calls > 0)
    const usage = findUsage(chunk, first)
    if (usage === undefined) return "relay"
    facts.usage = mergeUsage(facts.usage, decodeUsage(usage, chunk, dialect))
    return hideUsage && choices.length === 0 ? "withhold" : "relay"
  }

  /** Clients read the reason from a chunk: one is put before the end mark, for each answer that has none. */
  const endOf = (facts: MutableFacts): Verdict => {
    if (!facts.content) return "withhold"
    facts.stop = finish === null ? inferredStop(calls > 0) : { ...decodeStop(finish, calls > 0), isInferred: true }
    const indices = [...(finish === null ? [0] : []), ...open]
    const { choices: _, usage: __, ...frame } = last
    const reason = finishReasons[calls > 0 ? "tool_calls" : "stop"]
    const ends = indices.map((index) => ({ index, delta: {}, logprobs: null, finish_reason: reason }))
    return { instead: encodeSse(null, JSON.stringify({ ...frame, choices: ends })) + encodeSse(null, "[DONE]") }
  }

  return {
    textMember: "content",
    read: ({ data }, facts) => {
      if (data.trim() === "[DONE]") {
        facts.terminated = true
        return facts.stop === null ? endOf(facts) : "relay"
      }
      const chunk = parseJson(data)
      return isObject(chunk) ? readChunk(chunk, facts) : "unreadable"
    }
  }
}

export const makeStreamTap = (options: TapOptions): StreamTap => makeSseTap(makeReader(options))
