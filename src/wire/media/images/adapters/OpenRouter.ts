/**
 * OpenRouter makes pictures with chat completions. One answer per request, with one picture or several.
 *
 * https://openrouter.ai/docs/guides/overview/multimodal/image-generation (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { type JsonObject, objectOr, optional } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, picturesOf, tokensOf } from "../Answer.ts"
import { encodeAs } from "../ImageRequest.ts"
import { partsOfAtMost } from "../Parts.ts"
import { contentRefused } from "../Refusal.ts"

const choicesIn = (body: JsonObject): ReadonlyArray<JsonObject> => listOf(body["choices"]).map(objectOr)

const addressOf = (image: unknown) => objectOr(objectOr(image)["image_url"])["url"]

const pictures = (body: JsonObject): ReadonlyArray<JsonObject> | null =>
  picturesOf(choicesIn(body).flatMap(({ message }) => listOf(objectOr(message)["images"]).map(addressOf)))

export const openRouter: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: encodeAs(["size"], ({ model, own, prompt, ratio }) => ({
    body: {
      model,
      messages: [{ role: "user", content: prompt }],
      modalities: ["image", "text"],
      ...optional("image_config", ratio === null ? null : { aspect_ratio: ratio }),
      ...own
    }
  })),
  partsOf: partsOfAtMost(1),
  ...answersOf("images", "picture", {
    ...answerWith(pictures, (body) => tokensOf(body["usage"])),
    problemOf: (body) =>
      pictures(body) === null && choicesIn(body).some(({ finish_reason: reason }) => reason === "content_filter")
        ? contentRefused("content_filter")
        : null
  })
}
