/**
 * Stability's `stable-image/generate`: a form, and one picture in base64. Core and Ultra are services of their own; the other models are
 * named in the form of a third.
 *
 * https://platform.stability.ai/docs/api-reference#tag/Generate (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { optional, stringOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, picturesOf } from "../Answer.ts"
import { encodeAs, formOf } from "../ImageRequest.ts"
import { partsOfAtMost } from "../Parts.ts"
import { contentRefused } from "../Refusal.ts"

/** The path of a model. */
const serviceOf = (model: string): "core" | "ultra" | "sd3" =>
  /core$/i.test(model) ? "core" : /ultra$/i.test(model) ? "ultra" : "sd3"

const encodeRequest = encodeAs(["size", "output_format"], ({ format, model, own, prompt, ratio }) => {
  const service = serviceOf(model)
  return {
    body: {},
    payload: formOf({
      prompt,
      ...optional("aspect_ratio", ratio),
      ...optional("output_format", format),
      ...(service === "sd3" ? { model } : {}),
      ...own
    }),
    place: { values: { service }, query: "" }
  }
})

/** Answers of Stability: with `finish_reason` CONTENT_FILTERED the picture is blurred. */
export const stabilityAnswer = answersOf("images", "picture", {
  ...answerWith((body) => (body["finish_reason"] === "CONTENT_FILTERED" ? null : picturesOf([body["image"]]))),
  problemOf: ({ finish_reason: reason }) =>
    reason === "CONTENT_FILTERED" ? contentRefused(stringOr(reason) ?? "") : null
})

export const stability: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest,
  partsOf: partsOfAtMost(1),
  ...stabilityAnswer
}
