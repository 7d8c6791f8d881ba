/** https://docs.ollama.com/api/chat, https://docs.ollama.com/api/generate */
import type { Path } from "../../../../../wire/json/DeepSplice.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../../../wire/json/Json.ts"
import { add, addWith, addLeaves, type AnswerReader, draft, type Draft, type Reading } from "../Reading.ts"

const lane = "a"

const addCalls = (to: Draft, path: Path, calls: Json | undefined): void => {
  if (!isArray(calls)) return
  calls.forEach((call, index) => {
    const spec = isObject(call) ? call["function"] : undefined
    if (!isObject(spec)) return
    to.calls.push({ name: stringOr(spec["name"]) ?? "", path: [...path, index] })
    const at = [...path, index, "function", "arguments"]
    if (typeof spec["arguments"] === "string") add(to.pieces, null, at, spec["arguments"], "arguments")
    else addLeaves(to.pieces, at, spec["arguments"])
  })
}

const read = (line: JsonObject): Reading => {
  const to = draft()
  const beside = [{ path: ["logprobs"], json: "[]" }]
  const { message } = line
  if (isObject(message)) {
    addWith(to.pieces, `${lane}/thinking`, ["message", "thinking"], message["thinking"], beside)
    addWith(to.pieces, `${lane}/content`, ["message", "content"], message["content"], beside)
    addCalls(to, ["message", "tool_calls"], message["tool_calls"])
  } else {
    addWith(to.pieces, `${lane}/thinking`, ["thinking"], line["thinking"], beside)
    addWith(to.pieces, `${lane}/content`, ["response"], line["response"], beside)
    addCalls(to, ["tool_calls"], line["tool_calls"])
  }
  if (line["done"] === true) to.ends.push(lane)
  return to
}

export const ollama: AnswerReader = { event: read, answer: read }
