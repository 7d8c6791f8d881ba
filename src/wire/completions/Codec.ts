/**
 * `/v1/completions`, the chat wire's older endpoint: a prompt in, text out. A client's dialect only, and translated to whatever an
 * upstream speaks: models of today are asked by conversation.
 */
import { chat } from "../chat/Codec.ts"
import type { WireCodec } from "../WireCodec.ts"
import { encodeResponse } from "./Answer.ts"
import { checkEnvelope, decodeRequest } from "./Request.ts"
import { makeStreamEncoder } from "./StreamEncode.ts"

export const completions: WireCodec = {
  ...chat,
  upstreamPath: "/completions",
  maxCandidates: 1,
  carriesPicture: () => false,
  checkEnvelope,
  decodeRequest,
  encodeResponse,
  makeStreamEncoder
}
