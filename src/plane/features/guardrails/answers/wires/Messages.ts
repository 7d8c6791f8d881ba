/** https://platform.claude.com/docs/en/build-with-claude/streaming */
import type { Path } from "../../../../../wire/json/DeepSplice.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../../../../../wire/json/Json.ts"
import { add, addLeaves, type AnswerReader, draft, type Draft, type Reading, resultTexts } from "../Reading.ts"

/** Types of blocks in which a tool of the client is called. */
const callTypes = new Set(["tool_use"])

const addCitations = (to: Draft, path: Path, citations: Json | undefined): void =>
  addLeaves(to.pieces, path, citations, resultTexts)

/** A block, whole or at its beginning. */
const addBlock = (to: Draft, lane: string, path: Path, block: JsonObject, isWhole: boolean): void => {
  const type = stringOr(block["type"]) ?? ""
  if (callTypes.has(type)) to.calls.push({ name: stringOr(block["name"]) ?? "", path: isWhole ? path : null })
  switch (type) {
    case "text":
      add(to.pieces, `${lane}/text`, [...path, "text"], block["text"])
      return addCitations(to, [...path, "citations"], block["citations"])
    case "thinking":
      // What is signed is no longer what it was: a signature on other text is refused.
      to.dependents.push({ channel: `${lane}/thinking`, path: [...path, "signature"], json: '""' })
      return add(to.pieces, `${lane}/thinking`, [...path, "thinking"], block["thinking"])
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return addLeaves(to.pieces, [...path, "input"], block["input"])
    case "redacted_thinking":
      return
    default:
      return addLeaves(to.pieces, path, block, resultTexts)
  }
}

const addDelta = (to: Draft, lane: string, delta: JsonObject): void => {
  add(to.pieces, `${lane}/text`, ["delta", "text"], delta["text"])
  add(to.pieces, `${lane}/thinking`, ["delta", "thinking"], delta["thinking"])
  add(to.pieces, `${lane}/input`, ["delta", "partial_json"], delta["partial_json"], "arguments")
  addCitations(to, ["delta", "citation"], delta["citation"])
  if (typeof delta["signature"] === "string") {
    to.dependents.push({ channel: `${lane}/thinking`, path: ["delta", "signature"], json: '""' })
  }
}

const readAnswer = (body: JsonObject, path: Path = []): Reading => {
  const to = draft()
  const content = isArray(body["content"]) ? body["content"] : []
  content.forEach((block, index) => {
    if (isObject(block)) addBlock(to, `b${index}`, [...path, "content", index], block, true)
  })
  return to
}

const readEvent = (event: JsonObject): Reading => {
  const to = draft()
  const lane = `b${numberOr(event["index"]) ?? 0}`
  switch (event["type"]) {
    case "message_start":
      return isObject(event["message"]) ? readAnswer(event["message"], ["message"]) : to
    case "content_block_start":
      if (isObject(event["content_block"])) addBlock(to, lane, ["content_block"], event["content_block"], false)
      return to
    case "content_block_delta":
      if (isObject(event["delta"])) addDelta(to, lane, event["delta"])
      return to
    case "content_block_stop":
      to.ends.push(lane)
      return to
    default:
      return to
  }
}

export const messages: AnswerReader = { event: readEvent, answer: (body) => readAnswer(body) }
