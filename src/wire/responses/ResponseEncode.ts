/**
 * Canonical response → response object.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { isArray, isObject, type JsonObject } from "../json/Json.ts"
import type { EncodeContext } from "../WireCodec.ts"
import { itemId } from "./Ids.ts"
import { annotationsOf, callItem, callShape, inputOf, messageItem, outputText, reasoningItem } from "./OutputItems.ts"
import { pictureItem } from "./Pictures.ts"
import { finished, responseHead } from "./ResponseObject.ts"
import { searchItem } from "./Searches.ts"
import { declaredTools, type DeclaredTool } from "./ToolNames.ts"

interface Encoder {
  readonly responseId: string
  readonly tools: ReadonlyMap<string, DeclaredTool>
  /** Log probabilities of the answer's text: they are in its first part. */
  readonly logprobs: ReadonlyArray<JsonObject>
}

const encodePart = (part: AnswerPart, index: number, encoder: Encoder): JsonObject | null => {
  const { logprobs, responseId, tools } = encoder
  switch (part.type) {
    case "text": {
      if (part.text === "") return null
      const text = outputText(part.text, annotationsOf(part.citations), logprobs)
      return messageItem(itemId("msg", responseId, index), [text], "completed")
    }
    case "refusal":
      if (part.text === "") return null
      return messageItem(itemId("msg", responseId, index), [{ type: "refusal", refusal: part.text }], "completed")
    case "reasoning": {
      const own = part.state?.wire === "responses" ? part.state.id : undefined
      return reasoningItem(own ?? itemId("rs", responseId, index), part.text, part.state)
    }
    case "tool_call": {
      const shape = callShape(part, tools, responseId, index)
      return callItem(shape, inputOf(shape, part.args), "completed")
    }
    case "opaque":
      if (part.wire === "responses") return part.value
      if (part.search !== undefined) return searchItem(itemId("ws", responseId, index), part.search)?.whole ?? null
      return pictureItem(itemId("ig", responseId, index), part.picture)?.whole ?? null
  }
}

export const encodeResponse = (response: Response, context: EncodeContext): JsonObject => {
  const head = responseHead(response, context)
  const content = response.logprobs?.["content"]
  const all = isArray(content) ? content.filter(isObject) : []
  const tools = declaredTools(context.request)
  const firstText = response.parts.findIndex((part) => part.type === "text" && part.text !== "")
  const output = response.parts.flatMap<JsonObject>((part, index) => {
    const logprobs = index === firstText ? all : []
    return encodePart(part, index, { responseId: String(head["id"]), tools, logprobs }) ?? []
  })
  return finished(head, output, response.stop, response.usage, context.nowMs)
}
