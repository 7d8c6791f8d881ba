/**
 * Hyperbolic: `/image/generation`, beside its chat wire. One picture per request.
 *
 * https://docs.hyperbolic.xyz/docs/image-generation-api (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { objectOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, picturesOf } from "../Answer.ts"
import { encodeAs } from "../ImageRequest.ts"
import { partsOfAtMost } from "../Parts.ts"

export const hyperbolic: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: encodeAs(["size"], ({ model, own, prompt, size }) => ({
    body: { model_name: model, prompt, ...size, ...own }
  })),
  partsOf: partsOfAtMost(1),
  ...answersOf(
    "images",
    "picture",
    answerWith((body) => picturesOf(listOf(body["images"]).map((picture) => objectOr(picture)["image"])))
  )
}
