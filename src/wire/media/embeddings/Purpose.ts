/**
 * Purposes of embeddings, in the terms of each provider. A term that a provider has no counterpart for is left out, and named as
 * dropped.
 *
 * https://docs.cohere.com/reference/embed (`input_type`), https://ai.google.dev/api/embeddings (`taskType`),
 * https://docs.voyageai.com/reference/embeddings-api (`input_type`), https://jina.ai/embeddings (`task`), read on 2026-11-23
 */
import { type JsonObject, stringOr } from "../../json/Json.ts"

type Purpose = "document" | "query" | "classification" | "clustering" | "similarity"

const words = {
  cohere: {
    document: "search_document",
    query: "search_query",
    classification: "classification",
    clustering: "clustering",
    similarity: null
  },
  gemini: {
    document: "RETRIEVAL_DOCUMENT",
    query: "RETRIEVAL_QUERY",
    classification: "CLASSIFICATION",
    clustering: "CLUSTERING",
    similarity: "SEMANTIC_SIMILARITY"
  },
  voyage: { document: "document", query: "query", classification: null, clustering: null, similarity: null },
  jina: {
    document: "retrieval.passage",
    query: "retrieval.query",
    classification: "classification",
    clustering: "separation",
    similarity: "text-matching"
  }
} as const satisfies Record<string, Record<Purpose, string | null>>

export type PurposeTable = keyof typeof words

const purposes = new Map<string, Purpose>(
  Object.values(words).flatMap((table) =>
    Object.entries(table).flatMap(([purpose, word]) => (word === null ? [] : [[word, purpose as Purpose] as const]))
  )
)

/** Names of the members with the purpose, of clients of any provider. */
const members = ["input_type", "taskType", "task"] as const

export interface ToldPurpose {
  /** The request without it. */
  readonly others: JsonObject
  /** The target's own word; null: the client says nothing that it has a word for. */
  readonly word: string | null
  readonly dropped: ReadonlyArray<string>
}

/** A word that is already the target's, or that no table knows, goes through as it is. */
export const purposeFor = (target: PurposeTable, request: JsonObject): ToldPurpose => {
  const member = members.find((name) => stringOr(request[name]) !== null)
  if (member === undefined) return { others: request, word: null, dropped: [] }
  const { [member]: told, ...others } = request
  const given = stringOr(told) ?? ""
  const purpose = purposes.get(given)
  const word = purpose === undefined ? given : words[target][purpose]
  return { others, word, dropped: word === null ? [member] : [] }
}
