/** `/v1/images/edits` and `/v1/images/variations`: answers, streams and bills are those of pictures that are made. */
import { images } from "../images/Codec.ts"
import { isAsAsked } from "../images/Answer.ts"
import { billedUsage, mostUsage } from "../images/Request.ts"
import { makeStreamEncoder, makeStreamTap } from "../images/Stream.ts"
import type { EncodeContext, WireCodec } from "../WireCodec.ts"
import { checkEnvelope, checkVariation, decodeWith, encodeRequest, typed } from "./Request.ts"

const typedContext = (context: EncodeContext): EncodeContext =>
  context.request === undefined ? context : { ...context, request: typed(context.request) }

/** What reads the request reads it as JSON has it. */
const edits: WireCodec = {
  ...images,
  endpoint: "imageEdits",
  upstreamPath: "/images/edits",
  mediaUsage: (request) => mostUsage(typed(request)),
  billedUsage: (usage, request) => billedUsage(usage, typed(request)),
  isAsAsked: (answer, request) => isAsAsked(answer, typed(request)),
  checkEnvelope,
  decodeRequest: decodeWith(checkEnvelope),
  encodeRequest,
  encodeResponse: (response, context) => images.encodeResponse(response, typedContext(context)),
  makeStreamTap: (options) =>
    makeStreamTap(options.request === undefined ? options : { ...options, request: typed(options.request) }),
  makeStreamEncoder: (context) => makeStreamEncoder(typedContext(context), "image_edit.completed")
}

/** Both sides of OpenAI's form. */
export const imageEdits: WireCodec = {
  ...edits,
  peer: (wire, _body, adapter) => (adapter === null && wire === "chat" ? imageEdits : null)
}

export const imageVariations: WireCodec = {
  ...edits,
  endpoint: "imageVariations",
  upstreamPath: "/images/variations",
  checkEnvelope: checkVariation,
  decodeRequest: decodeWith(checkVariation),
  peer: (wire, _body, adapter) => (adapter === null && wire === "chat" ? imageVariations : null)
}
