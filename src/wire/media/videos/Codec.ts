/** `/v1/videos/generations`, as a variant of the chat wire's codec: its errors are OpenAI's. */
import type { MediaAdapter } from "../../../contract/domain/MediaKind.ts"
import { chat } from "../../chat/Codec.ts"
import { encodeOutputs } from "../jobs/ClientAnswer.ts"
import { openAiJob } from "../jobs/OpenAiStyle.ts"
import { outputsReader } from "../jobs/Outputs.ts"
import { isOutputs } from "../OwnAnswers.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { encodeMinimax, minimaxJob } from "./adapters/Minimax.ts"
import { encodeRunway, runwayJob } from "./adapters/Runway.ts"
import { encodeFal, encodeReplicate, falFilm, replicateFilm } from "./adapters/Shared.ts"
import { encodeOpenAi, videoRequest } from "./Request.ts"

const openAi: WireCodec = {
  ...chat,
  endpoint: "videos",
  encodeRequest: encodeOpenAi,
  job: openAiJob,
  ...outputsReader("videos", "film")
}
const overResponses: WireCodec = { ...openAi, name: "responses" }

const adapters: Readonly<Partial<Record<MediaAdapter, WireCodec>>> = {
  fal: { ...openAi, encodeRequest: encodeFal, job: falFilm },
  minimax: { ...openAi, encodeRequest: encodeMinimax, job: minimaxJob },
  replicate: { ...openAi, encodeRequest: encodeReplicate, job: replicateFilm },
  runway: { ...openAi, encodeRequest: encodeRunway, job: runwayJob }
}

/** The client's side. */
export const videos: WireCodec = {
  ...chat,
  endpoint: "videos",
  upstreamPath: "/videos",
  maxCandidates: 1,
  peer: (wire, _body, adapter) => {
    if (adapter !== null) return adapters[adapter] ?? null
    if (wire === "chat") return openAi
    return wire === "responses" ? overResponses : null
  },
  ...videoRequest,
  isOwnAnswer: isOutputs,
  encodeResponse: encodeOutputs("videos", "/v1/videos/generations")
}
