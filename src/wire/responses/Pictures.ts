/**
 * `image_generation_call`: images in answers, both ways.
 *
 * https://developers.openai.com/api/docs/guides/tools-image-generation
 */
import type { MediaSource } from "../canonical/Conversation.ts"
import { type JsonObject, stringOr } from "../json/Json.ts"
import { imageTypeOf } from "../canonical/ImageType.ts"

const kind = "image_generation_call"

/** The image of a finished item; its format is often not reported. */
export const pictureOf = (item: JsonObject): { readonly picture?: MediaSource } => {
  const data = item["type"] === kind ? (stringOr(item["result"]) ?? "") : ""
  if (data === "") return {}
  const format = stringOr(item["output_format"])
  return {
    picture: {
      kind: "base64",
      mediaType: imageTypeOf(data) ?? (format === null ? "image/png" : `image/${format}`),
      data
    }
  }
}

/** The item at its start, and with its image. Null for an image that is not inline. */
export const pictureItem = (
  id: string,
  picture: MediaSource | undefined
): { readonly begun: JsonObject; readonly whole: JsonObject } | null => {
  if (picture?.kind !== "base64") return null
  const format = /^image\/([a-z]+)/.exec(picture.mediaType)?.[1] ?? "png"
  return {
    begun: { id, type: kind, status: "in_progress", result: null },
    whole: { id, type: kind, status: "completed", output_format: format, result: picture.data }
  }
}

/** Events of a stream while the image is generated. */
export const pictureEvents = [`response.${kind}.in_progress`, `response.${kind}.completed`] as const
