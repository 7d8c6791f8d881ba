/**
 * The ollama wire: its conversation endpoint, and its prompt endpoint.
 *
 * https://docs.ollama.com/api/chat
 */
import { carriesInlinePicture } from "../canonical/Pictures.ts"
import { saysNothing } from "../json/Json.ts"
import { readUpstreamError } from "../UpstreamError.ts"
import type { WireCodec } from "../WireCodec.ts"
import { checkEnvelope, checkGenerateEnvelope, relayRequest } from "./Envelope.ts"
import { renderError, renderStreamError } from "./Errors.ts"
import { misspelt } from "./Members.ts"
import { decodeGenerate, encodeGenerate } from "./Generate.ts"
import { chatShape, generateShape } from "./Piece.ts"
import { decodeRequest } from "./RequestDecode.ts"
import { encodeRequest } from "./RequestEncode.ts"
import { decodeResponse, readAnswer } from "./ResponseDecode.ts"
import { makeResponseEncoder } from "./ResponseEncode.ts"
import { makeStreamDecoder } from "./StreamDecode.ts"
import { makeStreamEncoder } from "./StreamEncode.ts"
import { makeStreamTap } from "./Tap.ts"

export const ollama: WireCodec = {
  name: "ollama",
  upstreamPath: "/api/chat",
  requestContentType: "application/json",
  streamContentType: "application/x-ndjson",
  // The line with the stop reason is the end.
  endMark: "",
  heartbeat: "",
  toolLimits: { name: null, callId: null, mendsOwnIds: false, freeForm: "none", wantsResults: false },
  maxCandidates: 1,
  carriesPicture: carriesInlinePicture,
  misspelt,
  checkEnvelope,
  relayRequest,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse: makeResponseEncoder(chatShape),
  readAnswer,
  makeStreamDecoder: () => makeStreamDecoder(),
  makeStreamEncoder: makeStreamEncoder(chatShape),
  makeStreamTap: () => makeStreamTap(),
  renderError,
  renderStreamError,
  readUpstreamError
}

/** The conversation so far in tokens, what the answer is to lead to, and prompts that are not put into the model's own template. */
const generateOnly = ["context", "suffix", "raw", "template"] as const

export const ollamaGenerate: WireCodec = {
  ...ollama,
  upstreamPath: "/api/generate",
  checkEnvelope: checkGenerateEnvelope,
  decodeRequest: decodeGenerate,
  references: generateOnly,
  needsOwnEndpoint: (body) => generateOnly.some((name) => !saysNothing(body[name])),
  encodeRequest: encodeGenerate,
  encodeResponse: makeResponseEncoder(generateShape),
  makeStreamEncoder: makeStreamEncoder(generateShape)
}
