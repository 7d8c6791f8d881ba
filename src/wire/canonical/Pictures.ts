/** Pictures in answers: what becomes of them, and of other blocks, in the words of another wire. Pure. */
import { isObject, type JsonObject, stringOr } from "../json/Json.ts"
import { dataUrlOf, mediaOfUrl } from "./DataUrl.ts"
import type { MediaSource, OpaquePart } from "./Conversation.ts"
import type { UpstreamProblem } from "./Event.ts"
import type { Response } from "./Response.ts"

/** What carries pictures of an answer, by its source. */
export type CarriesPicture = (source: MediaSource) => boolean

export const carriesAnyPicture: CarriesPicture = ({ kind }) => kind === "base64" || kind === "url"
export const carriesInlinePicture: CarriesPicture = ({ kind }) => kind === "base64"

/** How an answer's block that its client cannot be told is named. */
export const lostName = ({ kind }: OpaquePart): string => `answer.${kind.replaceAll(/[^\x21-\x7e]|,/g, "_")}`

/** The same as a comment in a stream of events, whose headers are sent already. */
export const lostComment = (part: OpaquePart): string => `: dropped ${lostName(part).slice(0, 200)}\n\n`

/** `{type: "image_url"}`, as chat servers tell a picture (https://openrouter.ai/docs/features/multimodal/image-generation). */
export const imageUrlOf = (source: MediaSource): JsonObject | null => {
  if (source.kind !== "base64" && source.kind !== "url") return null
  const url = source.kind === "url" ? source.url : dataUrlOf(source.mediaType, source.data)
  return { type: "image_url", image_url: { url } }
}

/** The picture of such a part; undefined when it holds none. */
export const pictureOfUrl = (part: JsonObject): MediaSource | undefined => {
  const spec = part["image_url"]
  const url = (isObject(spec) ? stringOr(spec["url"]) : stringOr(spec)) ?? ""
  return url === "" ? undefined : mediaOfUrl(url)
}

export const pictureOnlyCode = "picture_only"

/** The model answered with nothing but pictures, and the client's wire has no place for them. */
export const pictureOnly = (wire: string): UpstreamProblem => ({
  status: 502,
  message: `The model answered with a picture, which the ${wire} wire cannot carry. Ask it through /v1/chat/completions, /v1/responses or /v1beta.`,
  type: null,
  code: pictureOnlyCode
})

export interface LostParts {
  /** Names of the blocks that do not arrive. */
  readonly names: ReadonlyArray<string>
  /** Pictures were lost, and nothing else was said. */
  readonly nothingLeft: boolean
}

/** What a client of `wire` cannot be told of an answer. */
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
