/** Compares the answers to two requests: status, headers and body. Pure. */
import type { RecordHeaders, RecordStatus } from "../../../contract/domain/TrafficRecord.ts"
import { isArray, isObject, type Json } from "../../../wire/json/Json.ts"
import { parsePerhapsCut } from "../reading/Answer.ts"
import { conversationOf, type ReadableExchange } from "../reading/Conversation.ts"
import { type BodyDiff, diffValues } from "./Diff.ts"

export interface ComparedAnswer {
  readonly status: RecordStatus
  readonly headers: RecordHeaders
  readonly exchange: ReadableExchange
}

export interface AnswerDiff extends Pick<BodyDiff, "equal" | "changes" | "omitted"> {
  /** Form in which the bodies were read: as turns of a model's answer, as JSON, or as lines. */
  readonly comparedAs: "turns" | "json" | "text"
}

/** Lines that are compared; the rest is one line more. */
const maxLines = 5_000

/** Headers that differ from one answer to the next, whatever its content. */
const passing: ReadonlySet<string> = new Set(["date", "age", "content-length", "transfer-encoding", "connection"])

const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n", maxLines)
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0)
  return length <= text.length ? [...lines, text.slice(length)] : lines
}

const jsonOf = ({ response }: ReadableExchange): Json | null => {
  const parsed = response === null ? undefined : parsePerhapsCut(response.text, response.isCut)
  return isObject(parsed) || isArray(parsed) ? parsed : null
}

const turnsOf = (exchange: ReadableExchange): Json | null => {
  const { error, response } = conversationOf(exchange)
  if (response.length === 0) return null
  // Blocks are JSON; what a tool is called with was read from it.
  return JSON.parse(JSON.stringify({ turns: response, ...(error === undefined ? {} : { error }) })) as Json
}

const ways = [
  ["json", jsonOf],
  ["turns", turnsOf],
  ["text", ({ response }: ReadableExchange): Json => (response === null ? null : linesOf(response.text))]
] as const

const headersOf = (headers: RecordHeaders): Json =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !passing.has(name)))

/** Compares two answers, read the same way on both sides: the first by which both can be read. */
export const diffAnswers = (one: ComparedAnswer, other: ComparedAnswer): AnswerDiff => {
  for (const [comparedAs, read] of ways) {
    const [before, after] = [read(one.exchange), read(other.exchange)]
    if (comparedAs !== "text" && (before === null || after === null)) continue
    const valueOf = ({ headers, status }: ComparedAnswer, body: Json): Json => ({
      status,
      headers: headersOf(headers),
      body
    })
    return { comparedAs, ...diffValues(valueOf(one, before), valueOf(other, after)) }
  }
  return { comparedAs: "text", equal: true, changes: [], omitted: 0 }
}
