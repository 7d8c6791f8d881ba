/**
 * Ideogram 3: a form, and addresses of pictures that are kept for a while.
 *
 * https://developer.ideogram.ai/api-reference/api-reference/generate-v3 (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { type JsonObject, objectOr, optional } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, picturesOf } from "../Answer.ts"
import { encodeAs, formOf } from "../ImageRequest.ts"
import { contentRefused } from "../Refusal.ts"

const safe = (body: JsonObject): ReadonlyArray<JsonObject> =>
  listOf(body["data"])
    .map(objectOr)
    .filter(({ is_image_safe: isSafe }) => isSafe !== false)

export const ideogram: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: encodeAs(["size"], ({ count, own, prompt, ratio }) => ({
    body: {},
    payload: formOf({
      prompt,
      ...(count > 1 ? { num_images: count } : {}),
      ...optional("aspect_ratio", ratio?.replace(":", "x")),
      ...own
    })
  })),
  ...answersOf("images", "picture", {
    ...answerWith((body) => picturesOf(safe(body).map(({ url }) => url))),
    problemOf: (body) =>
      listOf(body["data"]).length > 0 && safe(body).length === 0 ? contentRefused("is_image_safe is false") : null
  })
}
