/** Reads the answer to a request to a model, whole or as a stream, with the codec of its wire. Pure. */
import * as Either from "effect/Either"
import type { Dialect } from "../../../contract/domain/Dialect.ts"
import { codecs, type WireCodec } from "../../../wire/Codec.ts"
import { makePartCollector } from "../../../wire/canonical/PartCollector.ts"
import type { StreamEvent } from "../../../wire/canonical/Event.ts"
import type { AnswerPart, Stop } from "../../../wire/canonical/Response.ts"
import { mergeUsage, type Usage } from "../../../wire/canonical/Usage.ts"
import { closeCutJson } from "../../../wire/json/CutJson.ts"
import {
  isArray,
  isObject,
  type Json,
  type JsonObject,
  objectOr,
  parseJson,
  stringOr
} from "../../../wire/json/Json.ts"
import { makeSseScanner } from "../../../wire/sse/SseScanner.ts"
import { mayHoldOthers, otherChoices, otherStreams } from "./Choices.ts"
import type { Format } from "./Format.ts"

export interface ReadAnswer {
  /** Parts of the first choice. */
  readonly parts: ReadonlyArray<AnswerPart>
  /** Parts of each further choice, where several were asked for. */
  readonly others: ReadonlyArray<ReadonlyArray<AnswerPart>>
  /** Usage as the upstream reported it; null when it did not. */
  readonly usage: Usage | null
  readonly stop: Stop | null
  readonly model: string | null
  readonly streamed: boolean
}

/** Longer lines or events are not read. */
const maxEventBytes = 16 * 1_048_576
export const maxRawEvents = 1_000

/** JSON, of which perhaps only the beginning is there; undefined when it is none. */
export const parsePerhapsCut = (text: string, isCut: boolean): Json | undefined => {
  const parsed = parseJson(text)
  if (parsed !== undefined || !isCut) return parsed
  const closed = closeCutJson(text)
  return closed === null ? undefined : parseJson(closed)
}

const looksLikeEvents = (text: string): boolean =>
  /^(?:\uFEFF)?(?:data|event|id|retry)?:/.test(text.slice(0, 64).trimStart())

const isLines = (contentType: string): boolean => /ndjson|jsonl|json-seq/i.test(contentType)

/** The events of a stream as they were sent, JSON where they are. `limit`: how many at most. */
export const rawEventsOf = (text: string, contentType: string, limit = maxRawEvents): ReadonlyArray<Json> => {
  const valueOf = (data: string): Json => parseJson(data) ?? data
  if (/event-stream/i.test(contentType) || looksLikeEvents(text)) {
    const scanner = makeSseScanner(maxEventBytes)
    const events = [...scanner.push(Buffer.from(text)), ...scanner.end()]
    return events.slice(0, limit).map(({ data }) => valueOf(data))
  }
  if (isLines(contentType)) {
    return text
      .split("\n", limit + 1)
      .slice(0, limit)
      .flatMap((line) => (line.trim() === "" ? [] : [valueOf(line)]))
  }
  const whole = parsePerhapsCut(text, true)
  return whole === undefined ? [] : isArray(whole) ? whole.slice(0, limit) : [whole]
}

/** An answer of `/completions` in the form of the chat wire, which the codec reads. */
const asChat = (answer: JsonObject, member: "message" | "delta"): JsonObject => {
  const choices = isArray(answer["choices"]) ? answer["choices"] : []
  return {
    ...answer,
    choices: choices.map((choice): Json => {
      const { text, ...rest } = objectOr(choice)
      return typeof text === "string"
        ? Object.assign(rest, { [member]: { role: "assistant", content: text } })
        : objectOr(choice)
    })
  }
}

const eventText = (value: Json): string => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`

const eventBytes = (events: ReadonlyArray<Json>): Buffer => Buffer.from(events.map(eventText).join(""))

/** Google's code assistance has each chunk in a member of its own. */
const wrappedEvent = /(?:^|\n)data: ?\{\s*"response"/

/** The bytes of a stream as the codec reads them. */
const streamBytes = ({ apiKind }: Format, text: string, contentType: string): Buffer => {
  if (apiKind === "completions") {
    const events = rawEventsOf(text, contentType, Number.POSITIVE_INFINITY)
    return eventBytes(events.map((event) => (isObject(event) ? asChat(event, "delta") : event)))
  }
  if (apiKind === "gemini" && wrappedEvent.test(text)) {
    const events = rawEventsOf(text, contentType, Number.POSITIVE_INFINITY)
    return eventBytes(events.map((event) => (isObject(event) ? (event["response"] ?? event) : event)))
  }
  // A list of chunks: what the wire answers without `alt=sse`.
  if (apiKind === "gemini" && text.trimStart().startsWith("["))
    return eventBytes(rawEventsOf(text, "application/json", Number.POSITIVE_INFINITY))
  return Buffer.from(text)
}

const hasChoices: ReadonlySet<Format["apiKind"]> = new Set<Format["apiKind"]>(["chat", "completions", "gemini"])

/** The streams of the other choices; `bytes` are those of `text` as the codec reads them. */
const othersIn = ({ apiKind }: Format, bytes: Buffer, text: string): ReadonlyArray<Buffer> =>
  hasChoices.has(apiKind) && mayHoldOthers(text)
    ? otherStreams(rawEventsOf(bytes.toString(), "text/event-stream", Number.POSITIVE_INFINITY)).map(eventBytes)
    : []

const readEvents = (events: ReadonlyArray<StreamEvent>): ReadAnswer => {
  const collector = makePartCollector()
  let usage: Usage | null = null
  let stop: Stop | null = null
  let model: string | null = null
  for (const event of events) {
    collector.add(event)
    if (event.type === "start") model = event.model
    else if (event.type === "usage") usage = mergeUsage(usage, event.usage)
    else if (event.type === "finish") stop = event.stop
  }
  return { parts: collector.parts() ?? [], others: [], usage, stop, model, streamed: true }
}

const readWhole = (codec: WireCodec, body: JsonObject, dialect: Dialect | undefined): ReadAnswer => {
  const decoded = Either.getOrNull(codec.decodeResponse(body, dialect))
  const { stop, usage } = codec.readAnswer(body, dialect)
  return {
    parts: decoded?.parts ?? [],
    others: otherChoices(body).flatMap((other) => {
      const parts = Either.getOrNull(codec.decodeResponse(other, dialect))?.parts ?? []
      return parts.length === 0 ? [] : [parts]
    }),
    usage: usage ?? decoded?.usage ?? null,
    stop,
    model: decoded?.model ?? stringOr(body["model"]),
    streamed: false
  }
}

/** The codec that reads answers; that of embeddings reads only those of OpenAI's form. */
const answerCodec = ({ apiKind, body, codec }: Format): WireCodec =>
  apiKind === "embeddings"
    ? (codec.peer?.(isArray(body["requests"]) || isObject(body["content"]) ? "gemini" : "chat", body, null) ?? codec)
    : apiKind === "completions"
      ? codecs.chat
      : codec

/** Null where there is nothing to read: no text, or none of the wire. */
export const readAnswer = (
  format: Format,
  text: string,
  contentType: string,
  { dialect, isCut = false }: { readonly dialect?: Dialect | undefined; readonly isCut?: boolean } = {}
): ReadAnswer | null => {
  const isStream =
    /event-stream/i.test(contentType) ||
    isLines(contentType) ||
    looksLikeEvents(text) ||
    (format.apiKind === "gemini" && text.trimStart().startsWith("["))
  if (isStream) {
    const codec = answerCodec(format)
    const bytes = streamBytes(format, text, contentType)
    const read = (stream: Buffer): ReadAnswer => {
      const decoder = codec.makeStreamDecoder(dialect)
      return readEvents([...decoder.push(stream), ...decoder.end()])
    }
    return { ...read(bytes), others: othersIn(format, bytes, text).map((stream) => read(stream).parts) }
  }
  const parsed = parsePerhapsCut(text, isCut)
  if (!isObject(parsed)) return null
  const wrapped = format.apiKind === "gemini" && isObject(parsed["response"]) ? parsed["response"] : parsed
  const body = format.apiKind === "completions" ? asChat(wrapped, "message") : wrapped
  return readWhole(answerCodec(format), body, dialect)
}
