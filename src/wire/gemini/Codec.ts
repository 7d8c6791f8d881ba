/**
 * The gemini wire.
 *
 * https://ai.google.dev/api/generate-content
 */
import { carriesAnyPicture } from "../canonical/Pictures.ts"
import { readUpstreamError } from "../UpstreamError.ts"
import type { WireCodec } from "../WireCodec.ts"
import { makeArrayTap } from "./stream/ArrayTap.ts"
import { checkEnvelope, relayRequest } from "./Envelope.ts"
import { errorBodyInArray, errorBodyInStream, renderArrayError, renderError, renderStreamError } from "./Errors.ts"
import { misspelt } from "./Members.ts"
import { partTexts } from "./stream/PartTexts.ts"
import { decodeRequest } from "./RequestDecode.ts"
import { encodeRequest } from "./RequestEncode.ts"
import { decodeResponse, readAnswer } from "./ResponseDecode.ts"
import { encodeResponse } from "./ResponseEncode.ts"
import { makeStreamDecoder } from "./stream/StreamDecode.ts"
import { makeArrayEncoder, makeStreamEncoder } from "./stream/StreamEncode.ts"
import { makeStreamTap } from "./stream/Tap.ts"

export const gemini: WireCodec = {
  name: "gemini",
  upstreamPath: "/models/{model}:generateContent",
  requestContentType: "application/json",
  streamContentType: "text/event-stream",
  endMark: "",
  // Not a comment: see `ping` in `Framing.ts`.
  heartbeat: "\n",
  toolLimits: {
    name: { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, maxChars: 64 },
    callId: null,
    mendsOwnIds: false,
    freeForm: "none",
    wantsResults: false
  },
  // The wire allows more, but a translated answer has one.
  maxCandidates: 1,
  carriesSearch: true,
  carriesPicture: carriesAnyPicture,
  misspelt,
  outline: { list: "contents", closed: ["args", "response"] },
  checkEnvelope,
  relayRequest,
  decodeRequest,
  blockTexts: partTexts,
  references: ["cachedContent"],
  encodeRequest,
  decodeResponse,
  encodeResponse,
  readAnswer,
  makeStreamDecoder,
  makeStreamEncoder,
  makeStreamTap,
  renderError,
  renderStreamError,
  errorBodyInStream,
  readUpstreamError
}

/**
 * The wire's other form of a stream: one JSON array, for clients that call `:streamGenerateContent` without `alt=sse`. The upstream is
 * still asked for events, so its stream is relayed through the tap of this codec.
 */
export const geminiArray: WireCodec = {
  ...gemini,
  streamContentType: "application/json",
  // White space between elements.
  heartbeat: "\n",
  makeStreamEncoder: makeArrayEncoder,
  makeStreamTap: makeArrayTap,
  renderStreamError: renderArrayError,
  errorBodyInStream: errorBodyInArray
}
