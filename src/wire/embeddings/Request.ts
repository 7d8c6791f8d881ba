/** Embeddings requests: the client's body as it is, and its translation for each wire. */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../domain/Errors.ts"
import type { Conversation } from "../canonical/Conversation.ts"
import { type Json, type JsonObject, objectOr, optional } from "../json/Json.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { checkEnvelope, textsOf } from "./Input.ts"

/** There are no turns: the whole request is in `extras`. */
export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model }) => {
    const { model: _model, ...extras } = body
    return {
      wire: "chat",
      model,
      stream: false,
      wantsUsage: true,
      messages: [],
      tools: [],
      toolChoice: null,
      parallelToolCalls: null,
      maxOutputTokens: null,
      candidates: 1,
      sampling: {},
      outputFormat: null,
      reasoning: null,
      user: null,
      metadata: null,
      extras
    }
  })

export const encodeOpenAi = ({ extras }: Conversation, { model }: EncodeOptions): EncodedRequest => ({
  body: { model, ...extras },
  dropped: [],
  mapped: []
})

/** Members every endpoint can express; the gateway itself applies the format of the answer. */
const shared = new Set(["input", "dimensions", "encoding_format"])

const droppedOf = (extras: JsonObject): ReadonlyArray<string> => Object.keys(extras).filter((key) => !shared.has(key))

const geminiRequest =
  (model: string, dimensions: Json | undefined) =>
  (text: string): JsonObject => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    ...optional("outputDimensionality", dimensions)
  })

/** `batchEmbedContents`: https://ai.google.dev/api/embeddings */
export const encodeGemini = ({ extras }: Conversation, { model }: EncodeOptions): EncodedRequest => ({
  body: {
    requests: (textsOf(extras["input"]) ?? []).map(geminiRequest(model, extras["dimensions"]))
  },
  dropped: droppedOf(extras),
  mapped: []
})

/** Members of Ollama's own endpoint that its users may set. */
const ollamaMembers = ["truncate", "keep_alive", "options"] as const

/** https://docs.ollama.com/api/embed */
export const encodeOllama = ({ extras }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const own = Object.fromEntries(
    ollamaMembers.flatMap((key) => (extras[key] === undefined ? [] : [[key, extras[key]]]))
  )
  return {
    body: {
      model,
      input: textsOf(extras["input"]) ?? [],
      ...optional("dimensions", extras["dimensions"]),
      ...objectOr(own)
    },
    dropped: droppedOf(extras).filter((key) => !Object.hasOwn(own, key)),
    mapped: []
  }
}
