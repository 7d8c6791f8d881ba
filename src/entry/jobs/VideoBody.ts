/**
 * A request to OpenAI's `POST /v1/videos` in the form of `/v1/videos/generations`: always a job, with its picture in the body, since a job
 * outlives its upload.
 *
 * https://developers.openai.com/api/reference/resources/videos/methods/create (read in 2026-11)
 */
import { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Uploads } from "../../plane/request/Uploads.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { Unreadable } from "../../wire/json/Bounds.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { isObject, type Json, type JsonObject, stringOr } from "../../wire/json/Json.ts"

/** Model with which OpenAI makes videos where a request names none. */
const usualModel = "sora-2"
/** The picture is stored in base64 until the job is over. */
const mostPictureBytes = 8 * 1_048_576
const chunkBytes = 262_144

const invalid = (message: string): InvalidRequest =>
  new InvalidRequest({
    message: `input_reference: ${message}`,
    param: "input_reference",
    details: [{ field: "input_reference", message }]
  })

/** Members of an object are fields with its name in a form. */
const nested = /^input_reference\[(image_url|file_id)\]$/

const joined = (form: JsonObject): JsonObject => {
  const body: Record<string, Json | undefined> = {}
  const reference: Record<string, Json | undefined> = {}
  for (const [name, value] of Object.entries(form)) {
    const member = nested.exec(name)?.[1]
    if (member === undefined) body[name] = value
    else reference[member] = value
  }
  return Object.keys(reference).length === 0 ? body : { ...body, input_reference: reference }
}

const pictureOf = async (file: JsonObject, uploads: Uploads): Promise<JsonObject | InvalidRequest> => {
  const { content_type: type, upload: place } = file
  const upload = typeof place === "number" ? uploads[place] : undefined
  if (upload === undefined) return invalid("must be one picture")
  if (upload.bytes > mostPictureBytes) return invalid(`must have at most ${mostPictureBytes} bytes`)
  const chunks: Array<Buffer> = []
  for await (const chunk of upload.chunks(chunkBytes)) chunks.push(chunk)
  const bytes = Buffer.concat(chunks).toString("base64")
  return { image_url: `data:${stringOr(type) ?? "application/octet-stream"};base64,${bytes}` }
}

/** Converts the body; one that cannot be read is left to the reader of every request. */
export const videoBody = async (body: Buffer, uploads: Uploads): Promise<Buffer | InvalidRequest> => {
  const read = readForeignBody(body, maxTopMembers)
  if (read instanceof Unreadable || !isObject(read)) return body
  const asked = joined(read)
  const { input_reference: reference, model } = asked
  const picture =
    isObject(reference) && "upload" in reference && uploads.length > 0 ? await pictureOf(reference, uploads) : reference
  if (picture instanceof InvalidRequest) return picture
  return Buffer.from(
    JSON.stringify({
      ...asked,
      model: model ?? usualModel,
      async: true,
      ...(picture === undefined ? {} : { input_reference: picture })
    })
  )
}
