/**
 * Stable Diffusion web UI: `/sdapi/v1/txt2img`. Its checkpoint is named in the settings that a request overrides; the model `default` takes
 * the one that is loaded.
 *
 * https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/API (read in 2026-11)
 */
import { chat } from "../../../chat/Codec.ts"
import { objectOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, picturesOf } from "../Answer.ts"
import { encodeAs } from "../ImageRequest.ts"

/** The model that stands for whatever is loaded. */
const loaded = "default"

const encodeRequest = encodeAs(["size"], ({ count, model, own, prompt, size }) => {
  const { override_settings: settings, ...others } = own
  return {
    body: {
      prompt,
      batch_size: count,
      ...size,
      ...others,
      override_settings: { ...(model === loaded ? {} : { sd_model_checkpoint: model }), ...objectOr(settings) }
    }
  }
})

export const sdWebUi: WireCodec = {
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest,
  ...answersOf(
    "images",
    "picture",
    answerWith((body) => picturesOf(listOf(body["images"])))
  )
}
