/**
 * Stability: each way of changing a picture is a service below `stable-image/edit`, named as the model; Ultra and the models of `sd3` make
 * a new picture of one. A mask says by its lightness how much is changed: white is, black is not.
 *
 * https://platform.stability.ai/docs/api-reference#tag/Edit, https://platform.stability.ai/docs/api-reference#tag/Generate (read in 2026-11)
 */
import { optional } from "../../json/Json.ts"
import { fileOf } from "../Upload.ts"
import { encodeAs, formOf } from "../images/ImageRequest.ts"
import { stability, stabilityAnswer } from "../images/adapters/Stability.ts"
import type { EncodedRequest, FormPart, WireCodec } from "../../WireCodec.ts"
import { onePerRequest, withoutPictures } from "./Adapted.ts"
import { picturesIn } from "./Request.ts"

const withMask: ReadonlySet<string> = new Set(["inpaint", "erase"])
const editing: ReadonlySet<string> = new Set([
  ...withMask,
  "outpaint",
  "search-and-replace",
  "search-and-recolor",
  "remove-background"
])

/** Strength of image-to-image: how far the new picture may be from the old one, where the request does not say. */
const usualStrength = "0.7"

const generating = (model: string) => (/ultra$/i.test(model) ? "generate/ultra" : "generate/sd3")

export const stabilityEdits: WireCodec = {
  ...stability,
  endpoint: "imageEdits",
  partsOf: onePerRequest,
  ...stabilityAnswer,
  encodeRequest: (conversation, options): EncodedRequest => {
    const { model } = options
    const isEdit = editing.has(model)
    const taken = withMask.has(model) ? ["mask"] : []
    const { dropped, rest } = withoutPictures(conversation, taken)
    const extras = conversation.extras ?? {}
    const [picture, ...more] = picturesIn(extras)
    const mask = taken.length === 0 ? null : fileOf(extras["mask"])
    const files = [
      ...(picture === undefined ? [] : [{ name: "image", ...picture }]),
      ...(mask === null ? [] : [{ name: "mask", ...mask }])
    ]
    const encoded = encodeAs(["output_format"], ({ format, own, prompt }) => {
      const fields = formOf({
        ...(model === "remove-background" || model === "erase" ? {} : { prompt }),
        ...optional("output_format", format),
        ...(isEdit ? {} : { strength: usualStrength }),
        ...(isEdit || generating(model) === "generate/ultra" ? {} : { model, mode: "image-to-image" }),
        ...own
      })
      const texts: ReadonlyArray<FormPart> = fields.type === "form" ? fields.parts : []
      return {
        body: {},
        payload: {
          type: "form",
          parts: [
            ...texts,
            ...files.map(({ contentType, filename, name, upload }) => ({ name, upload, filename, contentType }))
          ]
        },
        place: { values: { service: isEdit ? `edit/${model}` : generating(model) }, query: "" }
      }
    })(rest, options)
    return { ...encoded, dropped: [...encoded.dropped, ...dropped, ...(more.length === 0 ? [] : ["image[]"])] }
  }
}
