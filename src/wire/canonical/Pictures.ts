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

/** Returns a check of whether a block of an answer counts as content for a client of `wire`; one that it cannot get does not. */
export const isContentFor =
  (wire: string, carries: CarriesPicture | undefined, carriesSearch = false) =>
  (part: OpaquePart): boolean => {
    if (part.wire === wire) return true
    if (part.picture !== undefined) return carries?.(part.picture) === true
    return part.search === undefined ? !isAudio(part) : carriesSearch && part.search.isBegun !== true
  }

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

/** Checks whether a block is the answer itself in sound. */
export const isAudio = ({ kind, value }: OpaquePart): boolean => {
  if (kind === "audio") return true
  const inline = isObject(value["inlineData"]) ? value["inlineData"] : value
  return kind === "inlineData" && (stringOr(inline["mimeType"]) ?? "").startsWith("audio/")
}

/** Kind of content that the client's wire cannot carry. */
export type Uncarried = "picture" | "sound"

export const uncarriedOf = (part: OpaquePart): Uncarried | null =>
  part.picture !== undefined ? "picture" : isAudio(part) ? "sound" : null

const uncarried = {
  picture: {
    code: "picture_only",
    text: "a picture",
    ask: "/v1/chat/completions, /v1/responses or /v1beta"
  },
  sound: { code: "sound_only", text: "sound alone", ask: "the wire of its provider" }
} as const

export const uncarriedCodes: ReadonlySet<string> = new Set(Object.values(uncarried).map(({ code }) => code))

/** The model answered with nothing that the client's wire can carry. */
export const nothingCarried = (what: Uncarried, wire: string): UpstreamProblem => {
  const { ask, code, text } = uncarried[what]
  return {
    status: 502,
    message: `The model answered with ${text}, which the ${wire} wire cannot carry. Ask it through ${ask}.`,
    type: null,
    code
  }
}

export interface LostParts {
  /** Names of the dropped blocks. */
  readonly names: ReadonlyArray<string>
  /** Kind of the dropped content where there was no other; null: there was. */
  readonly nothingLeft: Uncarried | null
}

/** The parts of an answer that a client of `wire` cannot get. */
export const lostParts = (
  { parts }: Response,
  wire: string,
  carries: CarriesPicture | undefined,
  carriesSearch = false
): LostParts => {
  const lost = parts.flatMap((part) => {
    if (part.type !== "opaque" || part.wire === wire) return []
    // A search that is told elsewhere is not lost here.
    if (part.search !== undefined && (carriesSearch || part.search.isBegun === true)) return []
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
    nothingLeft: said ? null : (lost.map(uncarriedOf).find((what) => what !== null) ?? null)
  }
}
