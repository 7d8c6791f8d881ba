/** `/v1/audio/transcriptions` and `/v1/audio/translations`, as variants of the chat wire's codec: their errors are OpenAI's. */
import type { MediaAdapter } from "../../../contract/domain/MediaKind.ts"
import { chat } from "../../chat/Codec.ts"
import { answersOf } from "../OpaqueAnswer.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { assemblyAiAnswer, assemblyAiJob, encodeAssemblyAi } from "./AssemblyAi.ts"
import { deepgramAnswer, elevenLabsAnswer, encodeResponse, encodeText, kind, openAiAnswer } from "./Answer.ts"
import {
  checkEnvelope,
  decodeRequest,
  encodeDeepgram,
  encodeElevenLabs,
  encodeOpenAi,
  textFormatOf,
  usageOf
} from "./Request.ts"
import { makeStreamDecoder, makeStreamEncoder, makeStreamTap } from "./Stream.ts"

const what = "transcript"

const openAi: WireCodec = {
  ...chat,
  endpoint: "transcriptions",
  upstreamPath: "/audio/transcriptions",
  endMark: "",
  maxCandidates: 1,
  mediaUsage: usageOf,
  estimatesUsage: true,
  checkEnvelope,
  decodeRequest,
  encodeRequest: encodeOpenAi,
  encodeResponse,
  encodeText,
  ...answersOf(kind, what, openAiAnswer),
  makeStreamTap,
  makeStreamDecoder,
  makeStreamEncoder
}

const adapters: Readonly<Partial<Record<MediaAdapter, WireCodec>>> = {
  assemblyai: {
    ...openAi,
    encodeRequest: encodeAssemblyAi,
    job: assemblyAiJob,
    ...answersOf(kind, what, assemblyAiAnswer)
  },
  deepgram: { ...openAi, encodeRequest: encodeDeepgram, ...answersOf(kind, what, deepgramAnswer) },
  elevenlabs: { ...openAi, encodeRequest: encodeElevenLabs, ...answersOf(kind, what, elevenLabsAnswer) }
}

/** Makes the peer for upstreams of OpenAI's form: the client's own codec, so that answers are relayed as they come. */
const ownPeer = (own: () => WireCodec): NonNullable<WireCodec["peer"]> => {
  const variants = (codec: WireCodec) => {
    const overResponses: WireCodec = { ...codec, name: "responses" }
    return {
      codec,
      overResponses,
      text: { ...codec, relaysMedia: true },
      textOver: { ...overResponses, relaysMedia: true }
    } as const
  }
  let made: ReturnType<typeof variants> | null = null
  return (wire, body) => {
    const { codec, overResponses, text, textOver } = (made ??= variants(own()))
    const isText = textFormatOf(body) !== null
    if (wire === "chat") return isText ? text : codec
    if (wire === "responses") return isText ? textOver : overResponses
    return null
  }
}

const transcriptionPeer = ownPeer(() => transcriptions)

/** The client's side. */
export const transcriptions: WireCodec = {
  ...openAi,
  peer: (wire, body, adapter) => (adapter === null ? transcriptionPeer(wire, body, null) : (adapters[adapter] ?? null))
}

const translationPeer = ownPeer(() => translations)

/** Codec of translations into English; only upstreams of OpenAI's form make them. */
export const translations: WireCodec = {
  ...openAi,
  endpoint: "translations",
  upstreamPath: "/audio/translations",
  peer: (wire, body, adapter) => (adapter === null ? translationPeer(wire, body, null) : null)
}
