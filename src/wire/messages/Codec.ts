/**
 * The messages wire.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import { makeSseDecoder } from "../sse/SseDecoder.ts"
import { readUpstreamError } from "../UpstreamError.ts"
import type { WireCodec } from "../WireCodec.ts"
import { blockTexts } from "./BlockTexts.ts"
import { checkEnvelope, relayRequest } from "./Envelope.ts"
import { errorBodyInStream, errorStatus, renderError, renderStreamError } from "./Errors.ts"
import { forOthers } from "./ForOthers.ts"
import { misspelt } from "./Members.ts"
import { decodeRequest } from "./RequestDecode.ts"
import { encodeRequest } from "./RequestEncode.ts"
import { decodeResponse, readAnswer } from "./ResponseDecode.ts"
import { encodeResponse } from "./ResponseEncode.ts"
import { makeEventDecoder } from "./StreamDecode.ts"
import { makeStreamEncoder } from "./StreamEncode.ts"
import { makeStreamTap } from "./Tap.ts"

export const messages: WireCodec = {
  name: "messages",
  upstreamPath: "/messages",
  requestContentType: "application/json",
  streamContentType: "text/event-stream",
  endMark: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  heartbeat: 'event: ping\ndata: {"type":"ping"}\n\n',
  toolLimits: {
    name: { pattern: /^[a-zA-Z0-9_-]+$/, maxChars: 64 },
    callId: { pattern: /^[a-zA-Z0-9_-]+$/, maxChars: 64 },
    mendsOwnIds: true,
    freeForm: "none",
    wantsResults: true
  },
  maxCandidates: 1,
  carriesSearch: true,
  misspelt,
  outline: { list: "messages", closed: ["input_schema", "input"] },
  checkEnvelope,
  relayRequest,
  decodeRequest,
  blockTexts,
  forOthers,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  readAnswer,
  makeStreamDecoder: (dialect) => makeSseDecoder(makeEventDecoder(dialect)),
  makeStreamEncoder,
  makeStreamTap,
  renderError,
  errorStatus,
  renderStreamError,
  errorBodyInStream,
  readUpstreamError
}
