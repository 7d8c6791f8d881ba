/** `image_generation_call`: pictures in answers, both ways. */
import type { MediaSource } from "../canonical/Conversation.ts"
import { type JsonObject, stringOr } from "../json/Json.ts"
import { imageTypeOf } from "../ollama/ImageType.ts"

const kind = "image_generation_call"

/** The picture of an item that is done; its format is told seldom. */
export const pictureOf = (item: JsonObject): { readonly picture?: MediaSource } => {
  const data = item["type"] === kind ? (stringOr(item["result"]) ?? "") : ""
  if (data === "") return {}
  const told = stringOr(item["output_format"])
  return {
    picture: { kind: "base64", mediaType: imageTypeOf(data) ?? (told === null ? "image/png" : `image/${told}`), data }
  }
}

/** The item as it begins, and with its picture. Null for a picture that is not inline. */
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

/** What a stream tells while the picture is made. */
export const pictureEvents = [`response.${kind}.in_progress`, `response.${kind}.completed`] as const
