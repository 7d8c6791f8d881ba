/** `/v1/rerank`, as a variant of the chat wire's codec: its errors are OpenAI's. */
import type { MediaAdapter } from "../../../contract/domain/MediaKind.ts"
import { chat } from "../../chat/Codec.ts"
import { isArray } from "../../json/Json.ts"
import { answersOf } from "../OpaqueAnswer.ts"
import { isRanking } from "../OwnAnswers.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { encodeResponse, isOfDocuments, nvidia, usual, voyage } from "./Answer.ts"
import { checkEnvelope, decodeRequest, encodeNvidia, encodeUsual, encodeVoyage, usageOf } from "./Request.ts"

const what = "results"

const cohereLike: WireCodec = {
  ...chat,
  endpoint: "rerank",
  encodeRequest: encodeUsual,
  isComplete: (response, { extras = {} }) => {
    const { documents } = extras
    return isOfDocuments(response, isArray(documents) ? documents.length : 0)
  },
  ...answersOf("rerank", what, usual)
}

const overResponses: WireCodec = { ...cohereLike, name: "responses" }

const adapters: Readonly<Partial<Record<MediaAdapter, WireCodec>>> = {
  cohere: cohereLike,
  jina: cohereLike,
  voyage: { ...cohereLike, encodeRequest: encodeVoyage, ...answersOf("rerank", what, voyage) },
  nvidia: { ...cohereLike, encodeRequest: encodeNvidia, ...answersOf("rerank", what, nvidia) }
}

/** The client's side. */
export const rerank: WireCodec = {
  ...chat,
  endpoint: "rerank",
  upstreamPath: "/rerank",
  maxCandidates: 1,
  mediaUsage: usageOf,
  peer: (wire, _body, adapter) => {
    if (adapter !== null) return adapters[adapter] ?? null
    if (wire === "chat") return cohereLike
    return wire === "responses" ? overResponses : null
  },
  checkEnvelope,
  decodeRequest,
  isOwnAnswer: isRanking,
  encodeResponse
}
