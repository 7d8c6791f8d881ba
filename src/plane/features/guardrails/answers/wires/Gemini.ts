/**
 * Members have both spellings that the wire allows.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { Path } from "../../../../../wire/json/DeepSplice.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../../../../../wire/json/Json.ts"
import { add, addWith, addLeaves, type AnswerReader, draft, type Draft, type Reading, resultTexts } from "../Reading.ts"

/** Members whose strings say again what the answer says. */
const segmentTexts: ReadonlySet<string> = new Set(["text"])

/** Arguments that come in pieces: strings by the place that they belong to. */
const addPartial = (to: Draft, lane: string, path: Path, pieces: Json | undefined): void => {
  if (!isArray(pieces)) return
  pieces.forEach((piece, index) => {
    if (!isObject(piece)) return
    const channel = `${lane}/${stringOr(piece["jsonPath"] ?? piece["json_path"]) ?? ""}`
    for (const name of ["stringValue", "string_value"]) add(to.pieces, channel, [...path, index, name], piece[name])
    if ((piece["willContinue"] ?? piece["will_continue"]) !== true) to.ends.push(channel)
  })
}

const addCall = (to: Draft, lane: string, path: Path, member: string, call: JsonObject): void => {
  const name = stringOr(call["name"])
  if (name !== null && name !== "") to.calls.push({ name, path })
  addLeaves(to.pieces, [...path, member, "args"], call["args"])
  for (const pieces of ["partialArgs", "partial_args"]) {
    // Only one call at a time comes in pieces.
    addPartial(to, `${lane}.call`, [...path, member, pieces], call[pieces])
  }
}

const addPart = (to: Draft, lane: string, path: Path, part: JsonObject, logprobs: Path): void => {
  const name = part["thought"] === true ? "thought" : "text"
  addWith(to.pieces, `${lane}/${name}`, [...path, "text"], part["text"], [{ path: logprobs, json: "{}" }])
  for (const member of ["functionCall", "function_call"]) {
    const call = part[member]
    if (isObject(call)) addCall(to, lane, path, member, call)
  }
  for (const member of ["executableCode", "executable_code", "codeExecutionResult", "code_execution_result"]) {
    addLeaves(to.pieces, [...path, member], part[member], resultTexts)
  }
}

const read = (body: JsonObject): Reading => {
  const to = draft()
  const candidates = isArray(body["candidates"]) ? body["candidates"] : []
  candidates.forEach((candidate, place) => {
    if (!isObject(candidate)) return
    const lane = `c${numberOr(candidate["index"]) ?? place}`
    const at: Path = ["candidates", place]
    const content = isObject(candidate["content"]) ? candidate["content"] : {}
    const parts = isArray(content["parts"]) ? content["parts"] : []
    parts.forEach((part, index) => {
      if (isObject(part)) {
        addPart(to, lane, [...at, "content", "parts", index], part, [...at, "logprobsResult"])
      }
    })
    for (const name of ["groundingMetadata", "grounding_metadata"]) {
      addLeaves(to.pieces, [...at, name], candidate[name], segmentTexts)
    }
    if (stringOr(candidate["finishReason"] ?? candidate["finish_reason"]) !== null) to.ends.push(lane, `${lane}.call`)
  })
  return to
}

export const gemini: AnswerReader = { event: read, answer: read }
