/**
 * `/v1/embeddings`, as a variant of the chat wire's codec. The upstream's answer is always rewritten, because clients need the format
 * they requested and not every upstream respects it.
 *
 * https://developers.openai.com/api/reference/resources/embeddings/methods/create (read in 2026-11)
 */
import { chat } from "../../chat/Codec.ts"
import { isEmbeddings } from "../OwnAnswers.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { encodeResponse } from "./Answer.ts"
import { checkEnvelope } from "./Input.ts"
import { peerOf } from "./Peers.ts"
import { decodeRequest } from "./Request.ts"
import { joined } from "./Splitting.ts"

/** The client's side. */
export const embeddings: WireCodec = {
  ...chat,
  endpoint: "embeddings",
  upstreamPath: "/embeddings",
  maxCandidates: 1,
  peer: (wire, body, adapter) => peerOf(wire, body["input"], adapter),
  join: joined,
  checkEnvelope,
  decodeRequest,
  isOwnAnswer: isEmbeddings,
  encodeResponse
}
