/** Decides the format of a request to models, by its path and else by its body, and the codec that reads it. Pure. */
import { codecs, type WireCodec } from "../../../wire/Codec.ts"
import { completions } from "../../../wire/media/completions/Codec.ts"
import { embeddings } from "../../../wire/media/embeddings/Codec.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"
import { ollamaGenerate } from "../../../wire/ollama/Codec.ts"
import type { ApiKind } from "../../../contract/domain/TrafficRecord.ts"

export interface Format {
  readonly apiKind: ApiKind
  readonly codec: WireCodec
  /** The request as the codec reads it: with what its path says of it. */
  readonly body: JsonObject
}

const withoutQuery = (path: string): string => {
  const mark = path.indexOf("?")
  return mark < 0 ? path : path.slice(0, mark)
}

const geminiAction =
  /\/models\/([^?]{1,256}?):(generateContent|streamGenerateContent|embedContent|batchEmbedContents)$/i
/** Google's code assistance has the action alone in its path. */
const bareAction = /:(generateContent|streamGenerateContent)$/i

const decodedModel = (model: string): string => {
  try {
    return decodeURIComponent(model)
  } catch {
    return model
  }
}

/** The wire has model and streaming in its path; its codec reads them in the body. */
const ofGemini = (path: string, body: JsonObject): Format | null => {
  const [, model, action = bareAction.exec(path)?.[1] ?? ""] = geminiAction.exec(path) ?? []
  // A wrapped request is `{model, project, request}`.
  const inner = isObject(body["request"]) && isArray(body["request"]["contents"]) ? body["request"] : body
  const named = model === undefined ? (body["model"] ?? "") : decodedModel(model)
  const stream = /^stream/i.test(action)
  if (/embed/i.test(action)) return { apiKind: "embeddings", codec: embeddings, body: { ...inner, model: named } }
  return isArray(inner["contents"]) || action !== ""
    ? { apiKind: "gemini", codec: codecs.gemini, body: { ...inner, model: named, stream } }
    : null
}

const byPath: ReadonlyArray<readonly [RegExp, ApiKind, WireCodec]> = [
  [/\/chat\/completions\/?$/i, "chat", codecs.chat],
  [/\/completions\/?$/i, "completions", completions],
  [/\/messages\/?$/i, "messages", codecs.messages],
  [/\/responses\/?$/i, "responses", codecs.responses],
  [/\/(?:embeddings|embed)\/?$/i, "embeddings", embeddings],
  [/\/api\/chat\/?$/i, "ollama", codecs.ollama],
  [/\/api\/generate\/?$/i, "ollama", ollamaGenerate]
]

/** Members that only the messages wire has. */
const isMessages = (body: JsonObject): boolean =>
  body["system"] !== undefined || body["anthropic_version"] !== undefined || body["stop_sequences"] !== undefined

const byShape = (body: JsonObject): Format | null => {
  if (isArray(body["contents"]) || isObject(body["request"])) return ofGemini("", body)
  if (isArray(body["messages"])) {
    return isMessages(body)
      ? { apiKind: "messages", codec: codecs.messages, body }
      : { apiKind: "chat", codec: codecs.chat, body }
  }
  if (typeof body["model"] !== "string") return null
  if (body["input"] !== undefined) return { apiKind: "responses", codec: codecs.responses, body }
  return body["prompt"] === undefined ? null : { apiKind: "completions", codec: completions, body }
}

/** Null where a request is none to a model, or in a format that is not known. */
export const formatOf = (path: string, body: Json | undefined): Format | null => {
  if (!isObject(body)) return null
  const route = withoutQuery(path).slice(-1_024)
  if (geminiAction.test(route) || bareAction.test(route)) return ofGemini(route, body)
  for (const [pattern, apiKind, codec] of byPath) if (pattern.test(route)) return { apiKind, codec, body }
  return byShape(body)
}

const byKind: Readonly<Record<ApiKind, WireCodec>> = { ...codecs, completions, embeddings }

/** The codec of a format that is known already. */
export const codecOf = (apiKind: ApiKind, path: string): WireCodec =>
  apiKind === "ollama" && /\/api\/generate\/?$/i.test(withoutQuery(path)) ? ollamaGenerate : byKind[apiKind]

/** Turns of a request, or its inputs. */
export const countTurns = ({ body }: Format): number => {
  for (const name of ["messages", "contents", "input", "requests"]) {
    const list = body[name]
    if (isArray(list)) return list.length
  }
  return 1
}
