/**
 * `/v1/music/generations`, as a variant of the chat wire's codec: its errors are OpenAI's, which has no such endpoint. A provider without
 * a form of its own is asked for a job in the form of OpenAI's videos.
 */
import type { MediaAdapter } from "../../../contract/domain/MediaKind.ts"
import { chat } from "../../chat/Codec.ts"
import { encodeOutputs } from "../jobs/ClientAnswer.ts"
import { mediaRequest, withoutOwn } from "../jobs/MediaRequest.ts"
import { openAiJob } from "../jobs/OpenAiStyle.ts"
import { outputsReader } from "../jobs/Outputs.ts"
import { stringOr } from "../../json/Json.ts"
import { isOutputs } from "../OwnAnswers.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { encodeSuno, sunoJob } from "./Suno.ts"

const plain: WireCodec = {
  ...chat,
  endpoint: "music",
  encodeRequest: ({ extras = {} }, { model }) => ({
    body: { ...withoutOwn(extras), model },
    dropped: [],
    mapped: []
  }),
  job: openAiJob,
  ...outputsReader("music", "music")
}
const overResponses: WireCodec = { ...plain, name: "responses" }

const adapters: Readonly<Partial<Record<MediaAdapter, WireCodec>>> = {
  suno: { ...plain, encodeRequest: encodeSuno, job: sunoJob }
}

/** The client's side. */
export const music: WireCodec = {
  ...chat,
  endpoint: "music",
  upstreamPath: "/music/generations",
  maxCandidates: 1,
  peer: (wire, _body, adapter) => {
    if (adapter !== null) return adapters[adapter] ?? null
    if (wire === "chat") return plain
    return wire === "responses" ? overResponses : null
  },
  // A song has about two minutes.
  ...mediaRequest({ needsNoPrompt: ({ lyrics }) => (stringOr(lyrics) ?? "") !== "", usualSeconds: 120 }),
  isOwnAnswer: isOutputs,
  encodeResponse: encodeOutputs("music", "/v1/music/generations")
}
