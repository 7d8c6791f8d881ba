/** Finds the wire of a captured request to a model, so that this gateway can answer it as its own routes do. Pure. */
import type { EndpointCategory } from "../../subjects/keys/entity.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { ApiKind } from "../../contract/domain/TrafficRecord.ts"
import type { AtOnce } from "../../plane/request/Exchange.ts"
import { formatOf } from "../../observe/inspector/reading/Format.ts"
import { codecs } from "../../wire/Codec.ts"
import { cohereEmbed } from "../../wire/media/embeddings/clients/Cohere.ts"
import { batchEmbedContents, embedContent } from "../../wire/media/embeddings/clients/Gemini.ts"
import { ollamaEmbed, ollamaEmbeddings } from "../../wire/media/embeddings/clients/Ollama.ts"
import { type JsonObject, stringOr } from "../../wire/json/Json.ts"
import { streamedArray } from "../../wire/StreamedArray.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"

export interface RequestFormat {
  readonly wire: WireName
  readonly codec: WireCodec
  /** Members that this wire has in its path. */
  readonly fromPath: JsonObject | null
  readonly atOnce: AtOnce | null
  /** Category on the inference routes. */
  readonly category: EndpointCategory
  /** Null: it names none. */
  readonly model: string | null
}

const wires: Readonly<Record<Exclude<ApiKind, "embeddings">, WireName>> = {
  chat: "chat",
  completions: "chat",
  messages: "messages",
  responses: "responses",
  gemini: "gemini",
  ollama: "ollama"
}

const embeddingClients: ReadonlyArray<readonly [RegExp, WireName, WireCodec]> = [
  [/:embedContent$/i, "gemini", embedContent],
  [/:batchEmbedContents$/i, "gemini", batchEmbedContents],
  [/\/api\/embed$/i, "ollama", ollamaEmbed],
  [/\/api\/embeddings$/i, "ollama", ollamaEmbeddings],
  [/\/v2\/embed$/i, "chat", cohereEmbed]
]

const counts: AtOnce = () => "count"

/** Null where it is no request to a model, or in a form that this gateway does not serve. */
export const requestFormatOf = (path: string, body: JsonObject): RequestFormat | null => {
  const [route = "", query = ""] = path.split("?", 2)
  if (/\/messages\/count_tokens$/i.test(route)) {
    const model = stringOr(body["model"])
    return { wire: "messages", codec: codecs.messages, fromPath: null, atOnce: counts, category: "chat", model }
  }
  const format = formatOf(path, body)
  // A wrapped request would need its answer wrapped, too.
  if (format === null || (format.apiKind === "gemini" && body["contents"] === undefined)) return null
  const named = stringOr(format.body["model"])
  const model = named === "" ? null : named
  const isInPath = /:[a-z]+$/i.test(route)
  const fromPath = isInPath ? { model, stream: format.body["stream"] === true } : null
  const told = { fromPath, atOnce: null, category: "chat", model } as const
  if (format.apiKind === "embeddings") {
    const [, wire, codec] = embeddingClients.find(([pattern]) => pattern.test(route)) ?? []
    return { ...told, category: "embeddings", wire: wire ?? "chat", codec: codec ?? format.codec }
  }
  const isArray = format.apiKind === "gemini" && fromPath?.stream === true && !/(?:^|&)\$?alt=sse(?:&|$)/i.test(query)
  return { ...told, wire: wires[format.apiKind], codec: isArray ? streamedArray : format.codec }
}
