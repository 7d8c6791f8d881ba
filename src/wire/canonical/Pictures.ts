/** Images and other opaque blocks of answers, and how another wire can carry them. Pure. */
import { isObject, type JsonObject, stringOr } from "../json/Json.ts"
import { dataUrlOf, mediaOfUrl } from "./DataUrl.ts"
import type { MediaSource, OpaquePart } from "./Conversation.ts"
import type { UpstreamProblem } from "./Event.ts"
import type { Response } from "./Response.ts"

/** Checks whether a wire's answers can carry an image, by its source. */
export type CarriesPicture = (source: MediaSource) => boolean

export const carriesAnyPicture: CarriesPicture = ({ kind }) => kind === "base64" || kind === "url"
export const carriesInlinePicture: CarriesPicture = ({ kind }) => kind === "base64"

/** The name of a dropped block of an answer. */
export const lostName = ({ kind }: OpaquePart): string => `answer.${kind.replaceAll(/[^\x21-\x7e]|,/g, "_")}`

/** The same as a comment in an event stream, whose headers are already sent. */
export const lostComment = (part: OpaquePart): string => `: dropped ${lostName(part).slice(0, 200)}\n\n`

/** `{type: "image_url"}`, as chat servers return an image (https://openrouter.ai/docs/features/multimodal/image-generation). */
export const imageUrlOf = (source: MediaSource): JsonObject | null => {
  if (source.kind !== "base64" && source.kind !== "url") return null
  const url = source.kind === "url" ? source.url : dataUrlOf(source.mediaType, source.data)
  return { type: "image_url", image_url: { url } }
}

/** The image of such a part; undefined when it holds none. */
export const pictureOfUrl = (part: JsonObject): MediaSource | undefined => {
  const spec = part["image_url"]
  const url = (isObject(spec) ? stringOr(spec["url"]) : stringOr(spec)) ?? ""
  return url === "" ? undefined : mediaOfUrl(url)
}

export const pictureOnlyCode = "picture_only"

/** The model answered with images only, and the client's wire cannot carry them. */
export const pictureOnly = (wire: string): UpstreamProblem => ({
  status: 502,
  message: `The model answered with a picture, which the ${wire} wire cannot carry. Ask it through /v1/chat/completions, /v1/responses or /v1beta.`,
  type: null,
  code: pictureOnlyCode
})

export interface LostParts {
  /** Names of the dropped blocks. */
  readonly names: ReadonlyArray<string>
  /** Images were dropped, and there was no other content. */
  readonly nothingLeft: boolean
}

/** The parts of an answer that a client of `wire` cannot get. */
export const lostParts = ({ parts }: Response, wire: string, carries: CarriesPicture | undefined): LostParts => {
  const lost = parts.flatMap((part) => {
    if (part.type !== "opaque" || part.wire === wire) return []
    return part.picture !== undefined && carries?.(part.picture) === true ? [] : part
  })
  const said = parts.some(
    (part) =>
      part.type === "tool_call" ||
      (part.type === "opaque" && !lost.includes(part)) ||
      ((part.type === "text" || part.type === "refusal") && part.text !== "")
  )
  return {
    names: [...new Set(lost.map(lostName))],
    nothingLeft: !said && lost.some(({ picture }) => picture !== undefined)
  }
}
