/**
 * The responses wire.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import { carriesInlinePicture } from "../canonical/Pictures.ts"
import { makeSseDecoder } from "../sse/SseDecoder.ts"
import { readUpstreamError } from "../UpstreamError.ts"
import type { WireCodec } from "../WireCodec.ts"
import { checkEnvelope, relayRequest } from "./Envelope.ts"
import { backgroundJob, responseIdIn, underWayIn, underWayInEvents } from "./Background.ts"
import { errorBodyInStream, renderError, renderFailedStream, renderStreamError, usedUpLimit } from "./Errors.ts"
import { itemTexts } from "./ItemTexts.ts"
import { misspelt } from "./Members.ts"
import { decodeRequest } from "./RequestDecode.ts"
import { encodeRequest } from "./RequestEncode.ts"
import { decodeResponse, readAnswer } from "./ResponseDecode.ts"
import { encodeResponse } from "./ResponseEncode.ts"
import { makeEventDecoder } from "./StreamDecode.ts"
import { makeStreamEncoder } from "./StreamEncode.ts"
import { makeStreamTap } from "./Tap.ts"

export const responses: WireCodec = {
  name: "responses",
  upstreamPath: "/responses",
  requestContentType: "application/json",
  streamContentType: "text/event-stream",
  // The event with the stop reason is the end mark itself.
  endMark: "",
  heartbeat: ": keep-alive\n\n",
  toolLimits: {
    name: { pattern: /^[a-zA-Z0-9_-]+$/, maxChars: 64 },
    callId: { pattern: /./s, maxChars: 64 },
    mendsOwnIds: false,
    freeForm: "known",
    wantsResults: true
  },
  maxCandidates: 1,
  carriesSearch: true,
  carriesPicture: carriesInlinePicture,
  misspelt,
  outline: { list: "input", closed: ["parameters", "input_schema"] },
  checkEnvelope,
  relayRequest,
  decodeRequest,
  blockTexts: itemTexts,
  references: ["previous_response_id", "conversation", "prompt"],
  encodeRequest,
  decodeResponse,
  encodeResponse,
  readAnswer,
  makeStreamDecoder: (dialect) => makeSseDecoder(makeEventDecoder(dialect)),
  makeStreamEncoder,
  makeStreamTap,
  renderError,
  usedUpLimit,
  renderFailedStream,
  renderStreamError,
  underWay: { idIn: responseIdIn, inAnswer: underWayIn, inEvents: underWayInEvents },
  errorBodyInStream,
  readUpstreamError
}

/** Asks what became of a response that its provider makes in the background. It is answered as it is there. */
export const backgroundResponses: WireCodec = {
  ...responses,
  peer: (wire) => (wire === "responses" ? backgroundResponses : null),
  job: backgroundJob
}
