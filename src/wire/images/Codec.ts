/**
 * `/v1/images/generations`, as a variant of the chat wire's codec: its errors are OpenAI's. A chat upstream gets the client's own bytes
 * and the client gets the upstream's, unless its pictures are not in the form that was asked for.
 */
import type { MediaAdapter } from "../../domain/MediaKind.ts"
import type { WireName } from "../../domain/Wire.ts"
import { chat } from "../chat/Codec.ts"
import { answersOf } from "../media/OpaqueAnswer.ts"
import type { WireCodec } from "../WireCodec.ts"
import { encodeResponse, isAsAsked, openAiAnswer } from "./Answer.ts"
import { billedUsage, checkEnvelope, decodeRequest, mostUsage, relayRequest } from "./Request.ts"
import { makeStreamEncoder, makeStreamTap } from "./Stream.ts"

const peerOf = (wire: WireName, adapter: MediaAdapter | null): WireCodec | null => {
  if (adapter !== null) return null
  return wire === "chat" ? images : null
}

/** Both sides of OpenAI's form. */
export const images: WireCodec = {
  ...chat,
  endpoint: "images",
  upstreamPath: "/images/generations",
  endMark: "",
  maxCandidates: 1,
  mediaUsage: mostUsage,
  billedUsage,
  peer: (wire, _body, adapter) => peerOf(wire, adapter),
  checkEnvelope,
  relayRequest,
  decodeRequest,
  encodeRequest: ({ extras = {} }, { model }) => ({ body: { ...extras, model }, dropped: [], mapped: [] }),
  ...answersOf("images", "picture", openAiAnswer),
  isAsAsked,
  encodeResponse,
  makeStreamTap,
  makeStreamEncoder: (context) => makeStreamEncoder(context)
}
