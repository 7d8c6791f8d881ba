/**
 * `/v1/completions`, the legacy endpoint of the chat wire: a prompt in, text out. For clients only: it is translated to the wire of the
 * upstream, because current models have conversation endpoints only.
 *
 * https://developers.openai.com/api/reference/resources/completions/methods/create
 */
import { chat } from "../../chat/Codec.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { encodeResponse } from "./Answer.ts"
import { checkEnvelope, decodeRequest } from "./Request.ts"
import { makeStreamEncoder } from "./StreamEncode.ts"

export const completions: WireCodec = {
  ...chat,
  upstreamPath: "/completions",
  maxCandidates: 1,
  references: ["suffix"],
  carriesPicture: () => false,
  checkEnvelope,
  decodeRequest,
  encodeResponse,
  makeStreamEncoder
}
