/**
 * The pieces that a media job has made, in one form: `{url}` where the provider gives an address, `{b64_json}` where it gives bytes, and
 * `{content}` (an address of the provider that wants its credential) where they have to be fetched from it. Canonically the answer is one
 * opaque part `{outputs, seconds?}`; the client's codec makes `data` of it.
 */
import type { MediaKind } from "../../../contract/domain/MediaKind.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import { isArray, isObject, type Json, type JsonObject, optional, stringOr } from "../../json/Json.ts"
import { answersOf } from "../OpaqueAnswer.ts"
import type { WireCodec } from "../../WireCodec.ts"

/** No provider makes more for one request. */
const mostOutputs = 64

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text)

/** Names under which providers put an address, and those under which they put bytes. */
const addressNames = ["url", "video_url", "audio_url", "uri"] as const
const bytesNames = ["b64_json", "base64"] as const

const found = (from: JsonObject, names: ReadonlyArray<string>): string | null => {
  for (const name of names) {
    const value = stringOr(from[name])
    if (value !== null && value !== "") return value
  }
  return null
}

/** One piece; null where it is none. */
export const outputOf = (item: Json | undefined): JsonObject | null => {
  if (typeof item === "string") return isAddress(item) ? { url: item } : dataUrl(item)
  if (!isObject(item)) return null
  const bytes = found(item, bytesNames)
  if (bytes !== null) return { b64_json: bytes }
  const address = found(item, addressNames)
  if (address !== null) return isAddress(address) ? { url: address } : dataUrl(address)
  return typeof item["content"] === "string" ? { content: item["content"] } : null
}

const dataUrl = (text: string): JsonObject | null => {
  const bytes = /^data:[^,]{0,200};base64,/i.exec(text)
  return bytes === null ? null : { b64_json: text.slice(bytes[0].length) }
}

/** All pieces in a value that is one piece or a list of them; null when there is none, or something else among them. */
export const outputsOf = (value: Json | undefined): ReadonlyArray<JsonObject> | null => {
  const items = isArray(value) ? value.slice(0, mostOutputs) : [value]
  const outputs = items.map(outputOf)
  return outputs.length > 0 && outputs.every((output) => output !== null) ? outputs : null
}

/** A positive number of seconds, as a number or as text; null when it is none. */
export const secondsOf = (value: Json | undefined): number | null => {
  const seconds = typeof value === "string" && /^\d{1,5}(?:\.\d{1,6})?$/.test(value) ? Number(value) : value
  return typeof seconds === "number" && seconds > 0 && seconds <= 86_400 ? seconds : null
}

/** Reads the canonical form, which the steps of a job make. */
export const outputsReader = (kind: MediaKind, what: string): Pick<WireCodec, "decodeResponse" | "readAnswer"> =>
  answersOf(kind, what, {
    valueOf: (body) => {
      const outputs = outputsOf(body["outputs"])
      return outputs === null ? null : { outputs, ...optional("seconds", secondsOf(body["seconds"])) }
    },
    usageOf: (body) => {
      const seconds = secondsOf(body["seconds"])
      return seconds === null ? null : { ...noTokens, units: { seconds } }
    }
  })
