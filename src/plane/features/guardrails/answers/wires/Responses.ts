/** https://developers.openai.com/api/reference/resources/responses/streaming-events */
import type { Path } from "../../../../../wire/json/DeepSplice.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../../../../../wire/json/Json.ts"
import {
  add,
  addWith,
  saysSomething,
  addLeaves,
  type AnswerReader,
  draft,
  type Draft,
  type Form,
  type Piece,
  type Reading,
  resultTexts
} from "../Reading.ts"

const numberIn = (event: JsonObject, name: string): number => numberOr(event[name]) ?? 0

const laneOf = (event: JsonObject): string => `o${numberIn(event, "output_index")}`

/** Kinds of deltas: by the beginning of the event's type, the name of the channel and the member of the event that has it all. */
interface Said {
  readonly channel: (event: JsonObject) => string
  readonly whole: string
  readonly form: Form
}

const content = (event: JsonObject): string => `c${numberIn(event, "content_index")}`
const summary = (event: JsonObject): string => `s${numberIn(event, "summary_index")}`
const call = (): string => "call"

const said: Readonly<Record<string, Said>> = {
  "response.output_text": { channel: content, whole: "text", form: "text" },
  "response.refusal": { channel: content, whole: "refusal", form: "text" },
  "response.reasoning_text": { channel: content, whole: "text", form: "text" },
  "response.reasoning_summary_text": { channel: summary, whole: "text", form: "text" },
  "response.function_call_arguments": { channel: call, whole: "arguments", form: "arguments" },
  "response.mcp_call_arguments": { channel: call, whole: "arguments", form: "arguments" },
  "response.custom_tool_call_input": { channel: call, whole: "input", form: "text" },
  "response.code_interpreter_call_code": { channel: call, whole: "code", form: "text" },
  "response.audio.transcript": { channel: () => "transcript", whole: "transcript", form: "text" },
  "response.audio_transcript": { channel: () => "transcript", whole: "transcript", form: "text" }
}

const noLogprobs = (path: Path): ReadonlyArray<{ readonly path: Path; readonly json: string }> => [
  { path: [...path, "logprobs"], json: "[]" }
]

/** A part of a message or of reasoning. */
const addPart = (to: Array<Piece>, channel: string, path: Path, part: Json | undefined): void => {
  if (!isObject(part)) return
  const beside = "logprobs" in part ? noLogprobs(path) : []
  addWith(to, channel, [...path, "text"], part["text"], beside)
  addWith(to, channel, [...path, "refusal"], part["refusal"], beside)
}

const addParts = (to: Array<Piece>, prefix: string, path: Path, parts: Json | undefined): void => {
  if (isArray(parts)) parts.forEach((part, index) => addPart(to, `${prefix}${index}`, [...path, index], part))
}

/** Types of items in which a tool of the client is called. */
const callTypes = new Set(["function_call", "custom_tool_call"])

/** Adds the tool that an item of an answer calls. */
const addCall = (to: Draft, path: Path, item: JsonObject): void => {
  if (callTypes.has(stringOr(item["type"]) ?? "")) to.calls.push({ name: stringOr(item["name"]) ?? "", path })
}

/** Adds the texts of an item of an answer. */
const addItem = (pieces: Array<Piece>, lane: string, path: Path, item: JsonObject): void => {
  switch (stringOr(item["type"]) ?? "") {
    case "message":
      return addParts(pieces, `${lane}/c`, [...path, "content"], item["content"])
    case "reasoning":
      addParts(pieces, `${lane}/c`, [...path, "content"], item["content"])
      return addParts(pieces, `${lane}/s`, [...path, "summary"], item["summary"])
    case "function_call":
    case "mcp_call":
      add(pieces, `${lane}/call`, [...path, "arguments"], item["arguments"], "arguments")
      return add(pieces, null, [...path, "output"], item["output"])
    case "custom_tool_call":
      return add(pieces, `${lane}/call`, [...path, "input"], item["input"])
    case "code_interpreter_call":
      add(pieces, `${lane}/call`, [...path, "code"], item["code"])
      return addLeaves(pieces, [...path, "outputs"], item["outputs"], resultTexts)
    case "image_generation_call":
    case "compaction":
      return
    default:
      return addLeaves(pieces, path, item, resultTexts)
  }
}

const addOutput = (to: Draft, pieces: Array<Piece>, path: Path, body: JsonObject, calls: boolean): void => {
  const output = isArray(body["output"]) ? body["output"] : []
  output.forEach((item, index) => {
    if (!isObject(item)) return
    const at = [...path, "output", index]
    if (calls) addCall(to, at, item)
    addItem(pieces, `o${index}`, at, item)
  })
}

/** `response.<what>.delta` or `.done`. */
const addSaid = (to: Draft, event: JsonObject, { channel, form, whole }: Said, ended: boolean): void => {
  const at = `${laneOf(event)}/${channel(event)}`
  const beside = "logprobs" in event ? noLogprobs([]) : []
  const text = event[ended ? whole : "delta"]
  const piece = saysSomething(text) ? { channel: at, path: [ended ? whole : "delta"], text, form, beside } : null
  if (piece !== null) (ended ? to.repeats : to.pieces).push(piece)
  if (!ended) return
  to.ends.push(at)
}

const readEvent = (event: JsonObject): Reading => {
  const to = draft()
  const type = stringOr(event["type"]) ?? ""
  const dot = type.lastIndexOf(".")
  const ended = type.endsWith(".done")
  const kind = ended || type.endsWith(".delta") ? said[type.slice(0, dot)] : undefined
  if (kind !== undefined) {
    addSaid(to, event, kind, ended)
    return to
  }
  const { item, part, response } = event
  switch (type) {
    case "response.content_part.added":
    case "response.content_part.done":
      addPart(to.repeats, `${laneOf(event)}/${content(event)}`, ["part"], part)
      return to
    case "response.reasoning_summary_part.added":
    case "response.reasoning_summary_part.done":
      addPart(to.repeats, `${laneOf(event)}/${summary(event)}`, ["part"], part)
      return to
    case "response.output_item.added":
    case "response.output_item.done":
      if (isObject(item) && !ended) addCall(to, ["item"], item)
      if (isObject(item)) addItem(to.repeats, laneOf(event), ["item"], item)
      if (ended) to.ends.push(laneOf(event))
      return to
    default:
      if (isObject(response)) addOutput(to, to.repeats, ["response"], response, false)
      return to
  }
}

const readAnswer = (body: JsonObject): Reading => {
  const to = draft()
  addOutput(to, to.pieces, [], body, true)
  return to
}

export const responses: AnswerReader = { event: readEvent, answer: readAnswer }
