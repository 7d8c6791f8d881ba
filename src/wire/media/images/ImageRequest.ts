/** Reads the members of a request for pictures, for providers with forms of their own. */
import { isPositiveInteger, type JsonObject, stringOr } from "../../json/Json.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import type { EncodedRequest, EncodeOptions, Payload } from "../../WireCodec.ts"
import { toldOf } from "./Request.ts"

/** Members of OpenAI's form. Other members are the provider's own and go through. */
const openAiMembers = new Set([
  "prompt",
  "n",
  "size",
  "quality",
  "background",
  "output_format",
  "output_compression",
  "moderation",
  "response_format",
  "style",
  "stream",
  "partial_images",
  "user"
])

/** Members about the answer: the gateway itself gives it in the form that was asked for. */
const ofAnswer = new Set(["response_format", "stream"])

export interface ImageRequest {
  readonly model: string
  readonly prompt: string
  readonly count: number
  /** Pixels; null where the provider is to choose. */
  readonly size: { readonly width: number; readonly height: number } | null
  /** `16:9`; null where the provider is to choose. */
  readonly ratio: string | null
  readonly quality: string | null
  /** `png`, `jpeg`, `webp`; null where the provider is to choose. */
  readonly format: string | null
  /** Members of the provider's own. */
  readonly own: JsonObject
}

const sizeOf = (size: string | null): ImageRequest["size"] => {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size ?? "") ?? []
  return width === undefined || height === undefined ? null : { width: Number(width), height: Number(height) }
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b))

/** Ratios that providers know. */
const usualRatios = ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "5:4", "4:5", "21:9", "9:21"] as const

/** The usual one that is nearest, as its logarithm. */
const nearestRatio = (width: number, height: number): string => {
  const wanted = Math.log(width / height)
  const distance = (ratio: string): number => {
    const [across = 1, down = 1] = ratio.split(":").map(Number)
    return Math.abs(Math.log(across / down) - wanted)
  }
  return usualRatios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best))
}

const ratioOf = (request: JsonObject, size: ImageRequest["size"]): string | null => {
  const told = stringOr(request["size"])
  if (told !== null && /^\d{1,2}:\d{1,2}$/.test(told)) return told
  if (size === null) return null
  const { height, width } = size
  const divisor = commonDivisor(width, height)
  const exact = `${width / divisor}:${height / divisor}`
  return usualRatios.some((ratio) => ratio === exact) ? exact : nearestRatio(width, height)
}

export const imageRequestOf = (request: JsonObject, model: string): ImageRequest => {
  const size = sizeOf(toldOf(request["size"]))
  return {
    model,
    prompt: stringOr(request["prompt"]) ?? "",
    count: isPositiveInteger(request["n"]) ? request["n"] : 1,
    size,
    ratio: ratioOf(request, size),
    quality: toldOf(request["quality"]),
    format: toldOf(request["output_format"]),
    own: Object.fromEntries(Object.entries(request).filter(([name]) => !openAiMembers.has(name)))
  }
}

/** A form of texts. */
export const formOf = (fields: JsonObject): Payload => ({
  type: "form",
  parts: Object.entries(fields).map(([name, value]) => ({
    name,
    value: typeof value === "string" ? value : JSON.stringify(value)
  }))
})

export type Encode = (conversation: Conversation, options: EncodeOptions) => EncodedRequest

/** `takes`: members of OpenAI's form, beside the prompt and the number, that the provider has a counterpart for. */
export const encodeAs =
  (
    takes: ReadonlyArray<string>,
    encode: (asked: ImageRequest) => Pick<EncodedRequest, "body" | "payload" | "place">
  ): Encode =>
  ({ extras = {} }, { model }) => ({
    dropped: Object.keys(extras).filter(
      (name) =>
        openAiMembers.has(name) && name !== "prompt" && name !== "n" && !ofAnswer.has(name) && !takes.includes(name)
    ),
    mapped: [],
    ...encode(imageRequestOf(extras, model))
  })
