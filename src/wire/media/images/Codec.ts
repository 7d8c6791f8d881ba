/**
 * `/v1/images/generations`, as a variant of the chat wire's codec: its errors are OpenAI's. A chat upstream gets the client's own bytes
 * and the client gets the upstream's, unless its pictures are not in the form that was asked for.
 */
import type { ImageAdapter, MediaAdapter } from "../../../contract/domain/MediaKind.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import { chat } from "../../chat/Codec.ts"
import { answersOf } from "../OpaqueAnswer.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { blackForestLabs } from "./adapters/BlackForestLabs.ts"
import { comfyUi } from "./adapters/ComfyUi.ts"
import { fal } from "./adapters/Fal.ts"
import { fireworks } from "./adapters/Fireworks.ts"
import { geminiImages } from "./adapters/Gemini.ts"
import { hyperbolic } from "./adapters/Hyperbolic.ts"
import { ideogram } from "./adapters/Ideogram.ts"
import { leonardo } from "./adapters/Leonardo.ts"
import { nebius, recraft, together, xai } from "./adapters/Like.ts"
import { openRouter } from "./adapters/OpenRouter.ts"
import { replicate } from "./adapters/Replicate.ts"
import { sdWebUi } from "./adapters/SdWebUi.ts"
import { stability } from "./adapters/Stability.ts"
import { encodeResponse, filledWith, isAsRequested, linksIn, openAiAnswer } from "./Answer.ts"
import { joined } from "./Parts.ts"
import { billedUsage, checkEnvelope, decodeRequest, mostUsage, relayRequest } from "./Request.ts"
import { makeStreamEncoder, makeStreamTap } from "./Stream.ts"

const adapters: Readonly<Partial<Record<MediaAdapter, WireCodec>>> = {
  blackForestLabs,
  comfyui: comfyUi,
  fal,
  leonardo,
  replicate,
  fireworksImages: fireworks,
  hyperbolic,
  ideogram,
  nebius,
  openrouterImages: openRouter,
  recraft,
  sdwebui: sdWebUi,
  stability,
  together,
  xai
} satisfies Record<ImageAdapter, WireCodec>

const peerOf = (wire: WireName, adapter: MediaAdapter | null): WireCodec | null => {
  if (adapter !== null) return adapters[adapter] ?? null
  switch (wire) {
    case "chat":
      return images
    case "responses":
      return overResponses
    case "gemini":
      return geminiImages
    case "messages":
    case "ollama":
      return null
  }
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
  join: joined,
  isAsAsked: isAsRequested,
  linked: { linksIn, filledWith },
  encodeResponse,
  makeStreamTap,
  makeStreamEncoder: (context) => makeStreamEncoder(context)
}

const overResponses: WireCodec = { ...images, name: "responses", answersWhole: true }
