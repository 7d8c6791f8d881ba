/**
 * Parts of a content, in requests and in answers.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { MediaSource, OpaquePart, ReasoningState } from "../canonical/Conversation.ts"
import { isObject, type JsonObject, objectOr, stringOr } from "../json/Json.ts"
import { camel } from "./Casing.ts"

/** Members that describe a part; every other one is the part's data. */
const notes = new Set(["thought", "thoughtSignature", "videoMetadata", "partMetadata", "mediaResolution"])

/** Accepted in place of a missing signature (https://ai.google.dev/gemini-api/docs/thought-signatures). */
export const noSignature = "skip_thought_signature_validator"

/** The part's signature as state of this wire. */
export const stateOf = (part: JsonObject): { readonly state?: ReasoningState } => {
  const signature = stringOr(part["thoughtSignature"]) ?? ""
  return signature === "" ? {} : { state: { wire: "gemini", signature } }
}

/** `thoughtSignature`, when this wire made the state. */
export const signatureOf = (state: ReasoningState | undefined): JsonObject =>
  state?.wire === "gemini" && state.signature !== undefined ? { thoughtSignature: state.signature } : {}

/** A part that only this wire has; null when it holds no data. */
export const opaqueOf = (part: JsonObject): OpaquePart | null => {
  const kind = Object.keys(part).find((key) => !notes.has(key))
  return kind === undefined ? null : { type: "opaque", wire: "gemini", kind, value: part, ...pictureOf(part) }
}

/** Images among the model's thoughts are drafts and not part of its answer. */
const pictureOf = (part: JsonObject): { readonly picture?: MediaSource } => {
  const inline = camel(objectOr(part["inlineData"]))
  const mediaType = stringOr(inline["mimeType"]) ?? ""
  const data = stringOr(inline["data"]) ?? ""
  const shown = mediaType.startsWith("image/") && data !== "" && part["thought"] !== true
  return shown ? { picture: { kind: "base64", mediaType, data } } : {}
}

/** An image as the data of a part; null for one that the wire cannot carry. */
export const partOfPicture = (picture: MediaSource | undefined): JsonObject | null => {
  if (picture?.kind === "base64") return { inlineData: { mimeType: picture.mediaType, data: picture.data } }
  return picture?.kind === "url" ? { fileData: { mimeType: "image/png", fileUri: picture.url } } : null
}

/** `functionCall` of a part; null for other parts. */
export const callOf = (part: JsonObject): JsonObject | null => {
  const call = part["functionCall"]
  return isObject(call) ? camel(call) : null
}
