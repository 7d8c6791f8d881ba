/**
 * Canonical response → chat completion.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import type { Citation } from "../canonical/Conversation.ts"
import { urlCitation } from "../canonical/Links.ts"
import type { Response } from "../canonical/Response.ts"
import { type JsonObject, stringOr } from "../json/Json.ts"
import type { EncodeContext } from "../WireCodec.ts"
import { asFunctionCall, asksForFunctions } from "./LegacyFunctions.ts"
import { imageOf, soundIn } from "./Message.ts"
import { finishReasons } from "./Stop.ts"
import { encodeUsage } from "./Usage.ts"

/** Links; other citations cannot be expressed here. `base`: where the text of the citation begins in the content. */
export const annotationOf = ({ link, value, wire }: Citation, base: number): ReadonlyArray<JsonObject> => {
  if (wire === "chat") return [value]
  return link === undefined ? [] : [{ type: "url_citation", url_citation: urlCitation(link, base) }]
}

/** The words of an answer in sound stand beside it alone. */
const isTranscript = (text: string, sound: JsonObject | null): boolean =>
  sound !== null && text === (stringOr(sound["transcript"]) ?? "")

const encodeMessage = (response: Response): JsonObject => {
  let text = ""
  let refusal = ""
  let reasoning = ""
  let sound: JsonObject | null = null
  const calls: Array<JsonObject> = []
  const annotations: Array<JsonObject> = []
  const images: Array<JsonObject> = []
  for (const part of response.parts) {
    switch (part.type) {
      case "text":
        for (const citation of part.citations ?? []) annotations.push(...annotationOf(citation, text.length))
        text += part.text
        break
      case "refusal":
        refusal += part.text
        break
      case "reasoning":
        reasoning += part.text
        break
      case "tool_call":
        calls.push(
          part.kind === "custom"
            ? { id: part.id, type: "custom", custom: { name: part.name, input: part.args } }
            : { id: part.id, type: "function", function: { name: part.name, arguments: part.args } }
        )
        break
      // A block of another wire that is not an image: its server has already processed it, and the text around it is kept.
      case "opaque": {
        sound ??= soundIn(part)
        const image = imageOf(part, images.length)
        if (image !== null) images.push(image)
      }
    }
  }
  return {
    role: "assistant",
    content: (text === "" && (calls.length > 0 || refusal !== "")) || isTranscript(text, sound) ? null : text,
    refusal: refusal === "" ? null : refusal,
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0 ? {} : { images }),
    ...(sound === null ? {} : { audio: sound }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
}

const encodeChoice = (response: Response, { request }: EncodeContext): JsonObject => {
  const message = encodeMessage(response)
  const reason = finishReasons[response.stop.reason]
  const functions = asksForFunctions(request)
  return {
    index: 0,
    message: functions ? asFunctionCall(message) : message,
    logprobs: response.logprobs,
    finish_reason: functions && reason === "tool_calls" ? "function_call" : reason
  }
}

export const encodeResponse = (response: Response, context: EncodeContext): JsonObject => ({
  id: response.id ?? context.fallbackId,
  object: "chat.completion",
  created: Math.floor((response.createdMs ?? context.nowMs) / 1000),
  model: response.model ?? context.model,
  choices: [encodeChoice(response, context)],
  ...(response.usage === null ? {} : { usage: encodeUsage(response.usage) })
})
