/** The gemini wire. */
import { readUpstreamError } from "../UpstreamError.ts"
import type { WireCodec } from "../WireCodec.ts"
import { checkEnvelope, relayRequest } from "./Envelope.ts"
import { renderError, renderStreamError } from "./Errors.ts"
import { decodeRequest } from "./RequestDecode.ts"
import { encodeRequest } from "./RequestEncode.ts"
import { decodeResponse, readAnswer } from "./ResponseDecode.ts"
import { encodeResponse } from "./ResponseEncode.ts"
import { makeStreamDecoder } from "./StreamDecode.ts"
import { makeStreamEncoder } from "./StreamEncode.ts"
import { makeStreamTap } from "./Tap.ts"

export const gemini: WireCodec = {
  name: "gemini",
  upstreamPath: "/models/{model}:generateContent",
  requestContentType: "application/json",
  streamContentType: "text/event-stream",
  endMark: "",
  // More can be asked of it, but a translated answer is one.
  maxCandidates: 1,
  checkEnvelope,
  relayRequest,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  readAnswer,
  makeStreamDecoder,
  makeStreamEncoder,
  makeStreamTap,
  renderError,
  renderStreamError,
  readUpstreamError
}
