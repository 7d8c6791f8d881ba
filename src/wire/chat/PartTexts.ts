/**
 * Texts of content parts that servers of this wire add to it, or that clients bring from other wires.
 *
 * https://openrouter.ai/docs/features/multimodal/videos (`video_url`), https://docs.mistral.ai/capabilities/document_ai (`document_url`)
 */
import type { MediaSource, OpaquePart } from "../canonical/Conversation.ts"
import { mediaOfUrl } from "../canonical/DataUrl.ts"
import { type Saying, unknownBlock } from "../canonical/ForeignContent.ts"
import { isObject, type Json, objectOr, stringOr } from "../json/Json.ts"

/** Reasoning and marks of servers' own. */
const hints: ReadonlySet<string> = new Set(["thinking", "reference", "redacted_thinking"])

/** `{url}`, or the link itself. */
const linked = (value: Json | undefined): MediaSource | null => {
  const url = stringOr(isObject(value) ? value["url"] : value)
  return url === null || url === "" ? null : mediaOfUrl(url)
}

export const partTexts = ({ kind, value }: OpaquePart): Saying => {
  if (hints.has(kind)) return "hint"
  switch (kind) {
    case "video_url": {
      const source = linked(value[kind])
      return source === null ? null : [{ type: "file", source, media: "video" }]
    }
    case "document_url": {
      const source = linked(value[kind])
      const name = stringOr(value["document_name"])
      return source === null ? null : [{ type: "file", source, ...(name === null ? {} : { filename: name }) }]
    }
    case "input_image": {
      const source = linked(value["image_url"])
      return source === null ? null : [{ type: "image", source }]
    }
    case "image": {
      const { data, media_type: mediaType, type, url } = objectOr(value["source"])
      if (type === "base64" && typeof data === "string")
        return [{ type: "image", source: { kind: "base64", mediaType: stringOr(mediaType) ?? "image/png", data } }]
      const source = linked(url ?? value["image"])
      return source === null ? null : [{ type: "image", source }]
    }
    default:
      return unknownBlock(value)
  }
}
