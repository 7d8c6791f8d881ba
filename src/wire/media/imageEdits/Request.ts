/**
 * Requests to change pictures, in the form of OpenAI's endpoints: a form with files, or JSON that names pictures by address.
 *
 * https://developers.openai.com/api/reference/resources/images/methods/edit,
 * https://developers.openai.com/api/reference/resources/images/methods/create_variation (2026-11)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import * as Images from "../images/Request.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../json/Json.ts"
import { fileOf, filesOf, formOf, isTrue, repeatedField, type UploadedFile } from "../Upload.ts"
import { wholeRequest } from "../WholeRequest.ts"
import type { EncodedRequest, EncodeOptions, Envelope } from "../../WireCodec.ts"

/** Most pictures that OpenAI takes; other models take fewer. */
const mostPictures = 16

const numbers = ["n", "partial_images", "output_compression"] as const

const numberOf = (value: Json): Json => (typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value)

/** Fields of a form are texts: those that are none, as JSON has them. */
export const typed = (body: JsonObject): JsonObject => {
  const told: Record<string, Json> = {}
  for (const name of numbers) if (body[name] !== undefined) told[name] = numberOf(body[name])
  const { stream } = body
  if (typeof stream === "string" && /^(?:true|false|0|1)$/.test(stream)) told["stream"] = isTrue(stream)
  return { ...body, ...told }
}

/** Pictures to change that came as files. */
export const picturesIn = (body: JsonObject): ReadonlyArray<UploadedFile> => filesOf(body, "image", "image[]")

const isAddress = (value: Json): boolean =>
  isObject(value) && (typeof value["image_url"] === "string" || typeof value["file_id"] === "string")

/** `mask` and the pictures; null when they are as they must be. */
const picturesProblem = (body: JsonObject): InvalidRequest | null => {
  const { images, mask = null } = body
  const files = picturesIn(body)
  const listed = isArray(images) ? images : []
  if (files.length === 0 && (listed.length === 0 || !listed.every(isAddress))) {
    return invalidField(
      "image",
      "send a picture as the file 'image' of a form, or 'images' with their 'image_url' in JSON"
    )
  }
  if (files.length + listed.length > mostPictures) return invalidField("image", `at most ${mostPictures} pictures`)
  if (files.some(({ bytes }) => bytes === 0)) return invalidField("image", "the file is empty")
  return mask === null || isAddress(mask) || fileOf(mask) !== null ? null : invalidField("mask", "expected one picture")
}

const mayRepeat: ReadonlySet<string> = new Set(["image", "images"])

/** A form is never sent on as it came: its model and its boundary are others. */
const asForm = (body: JsonObject, envelope: Envelope): Envelope =>
  filesOf(body, "image", "image[]", "mask").length === 0 ? envelope : { ...envelope, needsRewrite: true }

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a form or a JSON object")))
  const wrong = repeatedField(body, mayRepeat) ?? picturesProblem(body)
  if (wrong !== null) return Either.left(wrong)
  return Either.map(Images.checkEnvelope(typed(body)), (envelope) => asForm(body, envelope))
}

/** A variation needs no words. */
export const checkVariation = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a form")))
  const wrong =
    repeatedField(body) ??
    (fileOf(body["image"]) === null
      ? invalidField("image", "the form has no file of this name")
      : picturesProblem(body))
  if (wrong !== null) return Either.left(wrong)
  return Either.map(Images.checkEnvelope({ ...typed(body), prompt: "variation" }), (envelope) => asForm(body, envelope))
}

export const decodeWith =
  (check: typeof checkEnvelope) =>
  (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
    Either.map(check(body), ({ model, stream }) => ({ ...wholeRequest(body, model), stream }))

export const encodeRequest = ({ extras = {} }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const isForm = filesOf(extras, "image", "image[]", "mask").length > 0
  return {
    body: isForm ? {} : { ...extras, model },
    dropped: [],
    mapped: [],
    ...(isForm ? { payload: { type: "form", parts: formOf(extras, model) } } : {})
  }
}
