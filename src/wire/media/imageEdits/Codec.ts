/** `/v1/images/edits` and `/v1/images/variations`: answers, streams and bills are those of pictures that are made. */
import type { MediaAdapter } from "../../../contract/domain/MediaKind.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import { images } from "../images/Codec.ts"
import { isAsRequested } from "../images/Answer.ts"
import { billedUsage, mostUsage } from "../images/Request.ts"
import { makeStreamEncoder, makeStreamTap } from "../images/Stream.ts"
import type { JsonObject } from "../../json/Json.ts"
import type { EncodeContext, WireCodec } from "../../WireCodec.ts"
import { geminiEdits } from "./Gemini.ts"
import { checkEnvelope, checkVariation, decodeWith, encodeRequest, picturesIn, typed } from "./Request.ts"
import { stabilityEdits } from "./Stability.ts"

const typedContext = (context: EncodeContext): EncodeContext =>
  context.request === undefined ? context : { ...context, request: typed(context.request) }

/** Codec of picture edits; its readers of the request get it as JSON. */
const edits: WireCodec = {
  ...images,
  endpoint: "imageEdits",
  upstreamPath: "/images/edits",
  mediaUsage: (request) => mostUsage(typed(request)),
  billedUsage: (usage, request) => billedUsage(usage, typed(request)),
  isAsAsked: (answer, request) => isAsRequested(answer, typed(request)),
  checkEnvelope,
  decodeRequest: decodeWith(checkEnvelope),
  encodeRequest,
  encodeResponse: (response, context) => images.encodeResponse(response, typedContext(context)),
  makeStreamTap: (options) =>
    makeStreamTap(options.request === undefined ? options : { ...options, request: typed(options.request) }),
  makeStreamEncoder: (context) => makeStreamEncoder(typedContext(context), "image_edit.completed")
}

/** Forms that take pictures as files only: one that is named by its address would have to be fetched first. */
const takesFiles = (wire: WireName, body: JsonObject, adapter: MediaAdapter | null): WireCodec | null => {
  const isOfFiles = picturesIn(body).length > 0 && (body["images"] ?? null) === null
  if (!isOfFiles) return null
  if (adapter !== null) return adapter === "stability" ? stabilityEdits : null
  return wire === "gemini" ? geminiEdits : null
}

/** Both sides of OpenAI's form. */
export const imageEdits: WireCodec = {
  ...edits,
  peer: (wire, body, adapter) => (adapter === null && wire === "chat" ? imageEdits : takesFiles(wire, body, adapter))
}

export const imageVariations: WireCodec = {
  ...edits,
  endpoint: "imageVariations",
  upstreamPath: "/images/variations",
  checkEnvelope: checkVariation,
  decodeRequest: decodeWith(checkVariation),
  peer: (wire, _body, adapter) => (adapter === null && wire === "chat" ? imageVariations : null)
}
