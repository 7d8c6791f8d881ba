/** Embeddings requests: the client's body as it is, and what each kind of upstream is sent for it. */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../domain/Errors.ts"
import type { Conversation } from "../canonical/Conversation.ts"
import { type Json, type JsonObject, objectOr, optional } from "../json/Json.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { checkEnvelope, textsOf } from "./Input.ts"

/** Nothing is said in turns: the whole request stands in `extras`. */
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

/** Members every endpoint can say; the format of the answer is the gateway's own doing. */
const shared = new Set(["input", "dimensions", "encoding_format"])

const droppedOf = (extras: JsonObject): ReadonlyArray<string> => Object.keys(extras).filter((key) => !shared.has(key))

const geminiRequest =
  (model: string, dimensions: Json | undefined) =>
  (text: string): JsonObject => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    ...optional("outputDimensionality", dimensions)
  })

export const encodeGemini = ({ extras }: Conversation, { model }: EncodeOptions): EncodedRequest => ({
  body: {
    requests: (textsOf(extras["input"]) ?? []).map(geminiRequest(model, extras["dimensions"]))
  },
  dropped: droppedOf(extras),
  mapped: []
})

/** Members of the local runner's own endpoint that its users may know. */
const ollamaMembers = ["truncate", "keep_alive", "options"] as const

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
