/**
 * Steps of calls without a signature, in a request that is relayed: they came from an upstream of another wire, or from a model that gives
 * none. Every one is signed, of earlier turns too, so that a step is the same in all requests of its session. Pure.
 */
import { isObject, type Json, type JsonObject } from "../../json/Json.ts"
import { camel, listOf } from "../Casing.ts"
import { noSignature } from "../Part.ts"

const isCall = (part: Json): boolean => isObject(part) && isObject(camel(part)["functionCall"])

/** The content with a signature at the first call of its step; the same object where it has one, or no call. */
const signed = (content: Json): Json => {
  if (!isObject(content) || content["role"] !== "model") return content
  const parts = listOf(content["parts"]) ?? []
  const first = parts.findIndex(isCall)
  const part = parts[first]
  if (!isObject(part) || camel(part)["thoughtSignature"]) return content
  return { ...content, parts: parts.with(first, { ...part, thoughtSignature: noSignature }) }
}

/** Null where every step is signed. */
export const signedContents = (body: JsonObject): ReadonlyArray<Json> | null => {
  const contents = listOf(body["contents"]) ?? []
  const all = contents.map(signed)
  return all.every((content, at) => content === contents[at]) ? null : all
}
