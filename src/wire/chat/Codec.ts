/**
 * The chat completions wire.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import { carriesAnyPicture } from "../canonical/Pictures.ts"
import { makeSseDecoder } from "../sse/SseDecoder.ts"
import { readUpstreamError } from "../UpstreamError.ts"
import type { WireCodec } from "../WireCodec.ts"
import { checkEnvelope, relayRequest } from "./Envelope.ts"
import { errorBodyInStream, renderError, renderStreamError } from "./Errors.ts"
import { forOthers } from "./ForOthers.ts"
import { misspelt } from "./Members.ts"
import { partTexts } from "./PartTexts.ts"
import { plainPrompt } from "./PlainPrompt.ts"
import { decodeRequest } from "./RequestDecode.ts"
import { encodeRequest } from "./RequestEncode.ts"
import { decodeResponse, readAnswer } from "./ResponseDecode.ts"
import { encodeResponse } from "./ResponseEncode.ts"
import { makeEventDecoder } from "./StreamDecode.ts"
import { makeStreamEncoder } from "./StreamEncode.ts"
import { makeStreamTap } from "./Tap.ts"

export const chat: WireCodec = {
  name: "chat",
  upstreamPath: "/chat/completions",
  requestContentType: "application/json",
  streamContentType: "text/event-stream",
  endMark: "data: [DONE]\n\n",
  heartbeat: ": keep-alive\n\n",
  // Third-party servers differ in what they accept; what OpenAI accepts works everywhere.
  toolLimits: {
    name: { pattern: /^[a-zA-Z0-9_-]+$/, maxChars: 64 },
    callId: { pattern: /./s, maxChars: 40 },
    mendsOwnIds: false,
    freeForm: "some",
    wantsResults: true
  },
  maxCandidates: 128,
  carriesPicture: carriesAnyPicture,
  misspelt,
  outline: { list: "messages", closed: ["parameters", "input_schema", "input"] },
  checkEnvelope,
  relayRequest,
  decodeRequest,
  blockTexts: partTexts,
  forOthers,
  plainPrompt,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  readAnswer,
  makeStreamDecoder: (dialect) => makeSseDecoder(makeEventDecoder(dialect)),
  makeStreamEncoder,
  makeStreamTap,
  renderError,
  renderStreamError,
  errorBodyInStream,
  readUpstreamError
}
