/**
 * Fireworks: a workflow per model, with JSON as the form of the answer. One picture per request.
 *
 * https://docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { optional } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, picturesOf } from "../Answer.ts"
import { encodeAs } from "../ImageRequest.ts"
import { partsOfAtMost } from "../Parts.ts"
import { contentRefused } from "../Refusal.ts"

const modelPath = /^accounts\/([^/]+)\/models\/([^/]+)$/

/** Account and name of a model. */
const placeOf = (model: string): Readonly<Record<string, string>> => {
  const [, account = "fireworks", name = model] = modelPath.exec(model) ?? []
  return { account, name }
}

export const fireworks: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: encodeAs(["size"], ({ model, own, prompt, ratio }) => ({
    body: { prompt, ...optional("aspect_ratio", ratio), ...own },
    place: { values: placeOf(model), query: "" }
  })),
  partsOf: partsOfAtMost(1),
  ...answersOf("images", "picture", {
    ...answerWith((body) => (body["finishReason"] === "CONTENT_FILTERED" ? null : picturesOf(listOf(body["base64"])))),
    problemOf: (body) => (body["finishReason"] === "CONTENT_FILTERED" ? contentRefused("CONTENT_FILTERED") : null)
  })
}
