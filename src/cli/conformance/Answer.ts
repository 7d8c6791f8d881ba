/** An answer of a server as a case looks at it: status, JSON, or the events of a stream. */
import { makeSseFramer } from "../../wire/sse/SseFramer.ts"

/** One event of a stream. */
export interface AnswerEvent {
  /** Its `event:` line; null: it has none. */
  readonly name: string | null
  /** Its `data:` lines as they came. */
  readonly data: string
  /** The data as JSON; undefined: it is none. */
  readonly json: unknown
}

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly text: string
  /** The body as JSON; undefined: it is none. */
  readonly json: unknown
  /** Events of `text/event-stream`, in order. */
  readonly events: ReadonlyArray<AnswerEvent>
  /** Lines of newline-delimited JSON. */
  readonly lines: ReadonlyArray<unknown>
  /** The status, and the message of the refusal where there is one. */
  readonly refusal: () => string
}

const mostMessageChars = 300

export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Value at a path of names and places; undefined where there is none. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>((found, step) => {
    if (typeof step === "number") return Array.isArray(found) ? (found as ReadonlyArray<unknown>)[step] : undefined
    return isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }, value)

/** The list at a path; empty where there is none. */
export const listAt = (value: unknown, ...path: ReadonlyArray<string | number>): ReadonlyArray<unknown> => {
  const found = at(value, ...path)
  return Array.isArray(found) ? (found as ReadonlyArray<unknown>) : []
}

/** The text at a path; empty where there is none. */
export const textAt = (value: unknown, ...path: ReadonlyArray<string | number>): string => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : ""
}

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

export const isObject = isRecord

const eventOf = (block: string): AnswerEvent | null => {
  const lines = block.split(/\r\n|\r|\n/)
  const valuesOf = (field: string): ReadonlyArray<string> =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ""))
  const data = valuesOf("data")
  if (data.length === 0) return null
  const joined = data.join("\n")
  return { name: valuesOf("event")[0] ?? null, data: joined, json: jsonOf(joined) }
}

const eventsIn = (text: string): ReadonlyArray<AnswerEvent> => {
  const events: Array<AnswerEvent> = []
  const framer = makeSseFramer()
  const add = (block: string): void => {
    const event = eventOf(block)
    if (event !== null) events.push(event)
  }
  framer.push(Buffer.from(text), (bytes, start, end) => add(bytes.toString("utf8", start, end)))
  add(framer.takePending().toString())
  return events
}

/** Reads an answer. Pure. */
export const answerOf = (status: number, contentType: string, text: string): Answer => {
  const isStream = contentType.startsWith("text/event-stream")
  const isLines = contentType.startsWith("application/x-ndjson")
  const json = isStream || isLines ? undefined : jsonOf(text)
  const message = textAt(json, "error", "message") || textAt(json, "error")
  return {
    status,
    contentType,
    text,
    json,
    events: isStream ? eventsIn(text) : [],
    lines: isLines
      ? text
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map(jsonOf)
      : [],
    refusal: () => `the status is ${status}${message === "" ? "" : `: ${message.slice(0, mostMessageChars)}`}`
  }
}
