/**
 * Google's two methods: `:generateContent` of models that answer with pictures, and `:predict` of Imagen. The first makes one picture per
 * request.
 *
 * https://ai.google.dev/gemini-api/docs/image-generation, https://ai.google.dev/gemini-api/docs/imagen,
 * https://ai.google.dev/api/generate-content (read in 2026-11)
 */
import { noTokens } from "../../../../contract/domain/Usage.ts"
import { countOr, type Usage } from "../../../canonical/Usage.ts"
import { gemini } from "../../../gemini/Codec.ts"
import { isObject, type Json, type JsonObject, objectOr, optional, stringOr } from "../../../json/Json.ts"
import { answersOf } from "../../OpaqueAnswer.ts"
import type { WireCodec } from "../../../WireCodec.ts"
import { answerWith, listOf, pictureOf, picturesOf } from "../Answer.ts"
import { type ImageRequest, encodeAs } from "../ImageRequest.ts"
import { partsOfAtMost } from "../Parts.ts"
import { contentRefused } from "../Refusal.ts"

const isImagen = (model: string): boolean => /^(?:models\/)?imagen/i.test(model)

/** Pictures of one request to Imagen. */
const mostOfImagen = 4

const imagenBody = ({ count, format, own, prompt, ratio }: ImageRequest): JsonObject => {
  const { parameters, ...others } = own
  const output = format === null ? null : { mimeType: `image/${format}` }
  return {
    instances: [{ prompt }],
    parameters: {
      sampleCount: count,
      ...optional("aspectRatio", ratio),
      ...optional("outputOptions", output),
      ...others,
      ...objectOr(parameters)
    }
  }
}

/** Selects the settings for the answer, without the text and pictures that it is made of. */
export const contentWishes = ({ own, ratio }: ImageRequest): JsonObject => {
  const { contents: _contents, generationConfig, ...others } = own
  return {
    generationConfig: {
      responseModalities: ["TEXT", "IMAGE"],
      ...optional("imageConfig", ratio === null ? null : { aspectRatio: ratio }),
      ...objectOr(generationConfig)
    },
    ...others
  }
}

const contentBody = (asked: ImageRequest): JsonObject => ({
  contents: [{ role: "user", parts: [{ text: asked.prompt }] }],
  ...contentWishes(asked)
})

/** Reasons why a candidate has no picture that speak of its content. */
const refusals = new Set([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION"
])

const partsIn = (candidate: Json): ReadonlyArray<Json> => listOf(objectOr(objectOr(candidate)["content"])["parts"])

/** A thinking model shows drafts among its thoughts. */
const pictureIn = (part: Json): JsonObject | null => {
  const { inlineData, thought } = objectOr(part)
  return thought === true || !isObject(inlineData) ? null : pictureOf(inlineData["data"])
}

const contentPictures = (body: JsonObject): ReadonlyArray<JsonObject> | null => {
  const found = listOf(body["candidates"]).flatMap((candidate) => partsIn(candidate).map(pictureIn))
  const pictures = found.filter((picture) => picture !== null)
  return pictures.length === 0 ? null : pictures
}

const imagenPictures = (body: JsonObject): ReadonlyArray<JsonObject> | null =>
  picturesOf(listOf(body["predictions"]).map((prediction) => objectOr(prediction)["bytesBase64Encoded"]))

const tokens = (body: JsonObject): Usage | null => {
  const told = objectOr(body["usageMetadata"])
  const read = countOr(told["promptTokenCount"])
  const made = countOr(told["candidatesTokenCount"])
  const thought = countOr(told["thoughtsTokenCount"]) ?? 0
  return read === null && made === null
    ? null
    : { ...noTokens, in: read ?? 0, out: (made ?? 0) + thought, reasoning: thought }
}

const blockReason = (body: JsonObject): string | null => {
  const blocked = stringOr(objectOr(body["promptFeedback"])["blockReason"])
  if (blocked !== null) return blocked
  for (const candidate of listOf(body["candidates"])) {
    const reason = stringOr(objectOr(candidate)["finishReason"]) ?? ""
    if (refusals.has(reason)) return stringOr(objectOr(candidate)["finishMessage"]) ?? reason
  }
  for (const prediction of listOf(body["predictions"])) {
    const reason = stringOr(objectOr(prediction)["raiFilteredReason"])
    if (reason !== null) return reason
  }
  return null
}

const problemOf = (body: JsonObject) => {
  const reason = blockReason(body)
  return reason === null ? null : contentRefused(reason)
}

const content = answerWith(contentPictures, tokens)
const imagen = answerWith(imagenPictures)

const takes = ["size"]

/** The answer of either method. */
export const geminiImages: WireCodec = {
  ...gemini,
  endpoint: "images",
  answersWhole: true,
  encodeRequest: (conversation, options) => {
    const ofImagen = isImagen(options.model)
    return encodeAs(ofImagen ? [...takes, "output_format"] : takes, (asked) => ({
      body: ofImagen ? imagenBody(asked) : contentBody(asked),
      place: { values: { method: ofImagen ? "predict" : "generateContent" }, query: "" }
    }))(conversation, options)
  },
  partsOf: (conversation) => partsOfAtMost(isImagen(conversation.model) ? mostOfImagen : 1)(conversation),
  ...answersOf("images", "picture", {
    valueOf: (body) => content.valueOf(body) ?? imagen.valueOf(body),
    usageOf: (body) => content.usageOf(body) ?? imagen.usageOf(body),
    problemOf: (body) => ((contentPictures(body) ?? imagenPictures(body)) === null ? problemOf(body) : null)
  })
}
