/**
 * Providers whose endpoint is OpenAI's but for some members, read in 2026-11:
 *
 * | provider | documentation |
 * |---|---|
 * | Together | https://docs.together.ai/reference/post-images-generations |
 * | xAI | https://docs.x.ai/docs/guides/image-generations |
 * | Nebius | https://docs.tokenfactory.nebius.com/ai-models-inference/text-to-image |
 * | Recraft | https://www.recraft.ai/docs/api-reference/endpoints |
 */
import { chat } from "../../../chat/Codec.ts"
import { optional } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { openAiAnswer } from "../Answer.ts"
import type { Encode } from "../ImageRequest.ts"
import { encodeAs } from "../ImageRequest.ts"

const like = (encodeRequest: Encode): WireCodec => ({
  ...chat,
  endpoint: "images",
  answersWhole: true,
  encodeRequest,
  ...answersOf("images", "picture", openAiAnswer)
})

/** The size in two numbers; pictures in base64, unless the client wants addresses. */
export const together = like((conversation, options) =>
  encodeAs(["size", "output_format"], ({ count, format, model, own, prompt, size }) => ({
    body: {
      model,
      prompt,
      n: count,
      ...size,
      ...optional("output_format", format),
      response_format: conversation.extras?.["response_format"] === "url" ? "url" : "base64",
      ...own
    }
  }))(conversation, options)
)

/** A shape in place of a size. */
export const xai = like((conversation, options) =>
  encodeAs(["size"], ({ count, model, own, prompt, ratio }) => ({
    body: {
      model,
      prompt,
      n: count,
      ...optional("aspect_ratio", ratio),
      ...optional("response_format", conversation.extras?.["response_format"]),
      ...own
    }
  }))(conversation, options)
)

/** The size in two numbers, and the format under a name of its own. */
export const nebius = like((conversation, options) =>
  encodeAs(["size", "output_format"], ({ format, model, own, prompt, size }) => ({
    body: {
      model,
      prompt,
      ...size,
      ...optional("response_extension", format === "jpeg" ? "jpg" : format),
      ...optional("response_format", conversation.extras?.["response_format"]),
      ...own
    }
  }))(conversation, options)
)

/** Adapter of Recraft: it takes only its own styles, which are no styles of OpenAI's. */
export const recraft = like((conversation, options) =>
  encodeAs(["size", "style"], ({ count, model, own, prompt }) => ({
    body: {
      model,
      prompt,
      n: count,
      ...optional("size", conversation.extras?.["size"]),
      ...optional("style", conversation.extras?.["style"]),
      ...optional("response_format", conversation.extras?.["response_format"]),
      ...own
    }
  }))(conversation, options)
)
