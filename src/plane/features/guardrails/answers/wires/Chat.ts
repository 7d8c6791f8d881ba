/** https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events */
import type { Path } from "../../../../../wire/json/DeepSplice.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../../../../../wire/json/Json.ts"
import { add, addWith, type AnswerReader, draft, type Draft, type Reading } from "../Reading.ts"

/** Members with text, and those of other providers that speak this wire. */
const textMembers = ["content", "refusal", "reasoning_content", "reasoning"] as const

/** Content in parts, as some providers write it. */
const addParts = (to: Draft, lane: string, name: string, path: Path, parts: Json | undefined): void => {
  if (!isArray(parts)) return
  parts.forEach((part, index) => {
    if (!isObject(part)) return
    const at = [...path, index]
    add(to.pieces, `${lane}/${name}`, [...at, "text"], part["text"])
    add(to.pieces, `${lane}/reasoning`, [...at, "summary"], part["summary"])
    if (isArray(part["thinking"])) addParts(to, lane, "thinking", [...at, "thinking"], part["thinking"])
    else add(to.pieces, `${lane}/thinking`, [...at, "thinking"], part["thinking"])
  })
}

const addCalls = (to: Draft, lane: string, path: Path, calls: Json | undefined): void => {
  if (!isArray(calls)) return
  calls.forEach((call, place) => {
    if (!isObject(call)) return
    const channel = `${lane}/call${numberOr(call["index"]) ?? place}`
    const spec = isObject(call["function"]) ? call["function"] : call["custom"]
    if (!isObject(spec)) return
    const name = stringOr(spec["name"])
    if (name !== null && name !== "") to.calls.push({ name, path: [...path, place] })
    const at = [...path, place]
    add(to.pieces, channel, [...at, "function", "arguments"], spec["arguments"], "arguments")
    add(to.pieces, channel, [...at, "custom", "input"], spec["input"])
  })
}

const addMessage = (to: Draft, lane: string, path: Path, message: JsonObject, logprobs: Path): void => {
  const beside = [{ path: logprobs, json: "null" }]
  for (const name of textMembers) {
    const value = message[name]
    if (isArray(value)) addParts(to, lane, name, [...path, name], value)
    else addWith(to.pieces, `${lane}/${name}`, [...path, name], value, beside)
  }
  addParts(to, lane, "details", [...path, "reasoning_details"], message["reasoning_details"])
  const { audio, function_call: call } = message
  if (isObject(audio)) add(to.pieces, `${lane}/transcript`, [...path, "audio", "transcript"], audio["transcript"])
  if (isObject(call)) {
    const name = stringOr(call["name"])
    if (name !== null && name !== "") to.calls.push({ name, path: null })
    add(to.pieces, `${lane}/call`, [...path, "function_call", "arguments"], call["arguments"], "arguments")
  }
  addCalls(to, lane, [...path, "tool_calls"], message["tool_calls"])
}

const read = (body: JsonObject): Reading => {
  const to = draft()
  const choices = isArray(body["choices"]) ? body["choices"] : []
  choices.forEach((choice, place) => {
    if (!isObject(choice)) return
    const lane = `c${numberOr(choice["index"]) ?? place}`
    const at: Path = ["choices", place]
    const logprobs = [...at, "logprobs"]
    for (const member of ["delta", "message"]) {
      const message = choice[member]
      if (isObject(message)) addMessage(to, lane, [...at, member], message, logprobs)
    }
    addWith(to.pieces, `${lane}/content`, [...at, "text"], choice["text"], [{ path: logprobs, json: "null" }])
    if (stringOr(choice["finish_reason"]) !== null) to.ends.push(lane)
  })
  return to
}

export const chat: AnswerReader = { event: read, answer: read }
