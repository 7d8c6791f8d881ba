/** Requests that came as a form: fields as texts, files as `{upload, filename, content_type, bytes}` (`entry/forms/FormBody`). Pure. */
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import { invalidField } from "../json/FieldReader.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr } from "../json/Json.ts"
import type { FormPart } from "../WireCodec.ts"

/** Facts of an uploaded file. */
export interface UploadedFile {
  readonly upload: number
  readonly filename: string
  readonly contentType: string
  readonly bytes: number
  /** Length of sound, where its first bytes have it; null otherwise. */
  readonly seconds: number | null
}

export const fileOf = (value: Json | undefined): UploadedFile | null => {
  if (!isObject(value)) return null
  const { bytes, content_type: contentType, filename, seconds, upload } = value
  return typeof upload === "number" && typeof filename === "string" && typeof contentType === "string"
    ? { upload, filename, contentType, bytes: numberOr(bytes) ?? 0, seconds: numberOr(seconds) }
    : null
}

const listOf = (value: Json | undefined): ReadonlyArray<Json> => {
  if (value === undefined || value === null) return []
  return isArray(value) ? value : [value]
}

/** The files of a part, whether it came once or several times. */
export const filesOf = (body: JsonObject, ...names: ReadonlyArray<string>): ReadonlyArray<UploadedFile> =>
  names.flatMap((name) => listOf(body[name]).flatMap((value) => fileOf(value) ?? []))

/** A field that was sent several times although it has one value; null when there is none. */
export const repeatedField = (body: JsonObject, mayRepeat: ReadonlySet<string> = new Set()): InvalidRequest | null => {
  const name = Object.keys(body).find((key) => isArray(body[key]) && !key.endsWith("[]") && !mayRepeat.has(key))
  return name === undefined ? null : invalidField(name.slice(0, 100), "the form has this part more than once")
}

/** Booleans of forms are texts. */
export const isTrue = (value: Json | undefined): boolean => value === true || value === "true" || value === "1"

/** The form of `body` with another model: texts first, then files, both in their order. */
export const formOf = (body: JsonObject, model: string): ReadonlyArray<FormPart> => {
  const texts: Array<FormPart> = [{ name: "model", value: model }]
  const files: Array<FormPart> = []
  for (const [name, member] of Object.entries(body)) {
    if (name === "model") continue
    for (const value of listOf(member)) {
      const file = fileOf(value)
      if (file !== null)
        files.push({ name, upload: file.upload, filename: file.filename, contentType: file.contentType })
      else texts.push({ name, value: typeof value === "string" ? value : JSON.stringify(value) })
    }
  }
  return [...texts, ...files]
}
