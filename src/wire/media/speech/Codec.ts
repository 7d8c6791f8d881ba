/** `/v1/audio/speech`, as a variant of the chat wire's codec: its errors are OpenAI's, its answers are relayed as they come. */
import type { MediaAdapter } from "../../../contract/domain/MediaKind.ts"
import { chat } from "../../chat/Codec.ts"
import { answersOf } from "../OpaqueAnswer.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { checkEnvelope, decodeRequest, encodeDeepgram, encodeElevenLabs, encodeOpenAi, usageOf } from "./Request.ts"

const openAi: WireCodec = {
  ...chat,
  endpoint: "speech",
  relaysMedia: true,
  encodeRequest: encodeOpenAi,
  // Of an answer in JSON: it says what is wrong, but is no sound.
  ...answersOf("speech", "sound", { valueOf: () => null, usageOf: () => null })
}
const overResponses: WireCodec = { ...openAi, name: "responses" }
const elevenLabs: WireCodec = { ...openAi, encodeRequest: encodeElevenLabs }
const deepgram: WireCodec = { ...openAi, encodeRequest: encodeDeepgram }

const adapters: Readonly<Partial<Record<MediaAdapter, WireCodec>>> = { elevenlabs: elevenLabs, deepgram }

/** The client's side. */
export const speech: WireCodec = {
  ...chat,
  endpoint: "speech",
  upstreamPath: "/audio/speech",
  maxCandidates: 1,
  mediaUsage: usageOf,
  peer: (wire, _body, adapter) => {
    if (adapter !== null) return adapters[adapter] ?? null
    if (wire === "chat") return openAi
    return wire === "responses" ? overResponses : null
  },
  checkEnvelope,
  decodeRequest,
  // Sound is no JSON.
  isOwnAnswer: () => false
}
