/**
 * Requests for videos, in the form of OpenAI's endpoint: `{model, prompt, seconds?, size?, input_reference?}`.
 *
 * https://developers.openai.com/api/reference/resources/videos/methods/create (read in 2026-11)
 */
import type { Conversation } from "../../canonical/Conversation.ts"
import { mediaRequest, requestedSeconds, withoutOwn } from "../jobs/MediaRequest.ts"
import { isObject, type JsonObject, stringOr } from "../../json/Json.ts"
import type { EncodedRequest, EncodeOptions } from "../../WireCodec.ts"

/** Address of the picture a video begins with; null without one. */
export const imageOf = (body: JsonObject): string | null => {
  const { image, image_url: imageUrl, input_reference: reference } = body
  for (const given of [reference, image, imageUrl]) {
    const address = isObject(given) ? (stringOr(given["image_url"]) ?? stringOr(given["url"])) : stringOr(given)
    if (address !== null && address !== "") return address
  }
  return null
}

export const videoRequest = mediaRequest({
  needsNoPrompt: (body) => imageOf(body) !== null || isObject(body["input_reference"]),
  usualSeconds: 8
})

export type Encode = (conversation: Conversation, options: EncodeOptions) => EncodedRequest

/** OpenAI takes the seconds as text. */
export const encodeOpenAi: Encode = ({ extras = {} }, { model }) => {
  const { duration: _duration, ...others } = withoutOwn(extras)
  const seconds = requestedSeconds(extras)
  return {
    body: { ...others, model, ...(seconds === null ? {} : { seconds: String(seconds) }) },
    dropped: [],
    mapped: []
  }
}
