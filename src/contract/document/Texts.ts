/** Text of the OpenAPI document about the service as a whole: title, addresses, tags, and ways to authenticate. */
import type { EdgeRoute } from "../EdgeRoutes.ts"
import { inOrder, schemesInOrder, tagOrder } from "./Order.ts"
import { isMap, type Json, type JsonMap } from "./JsonSchemas.ts"

export const info: JsonMap = {
  title: "Gateway",
  summary: "Self-hosted gateway between AI clients and AI providers.",
  description:
    "Inference in the formats of the clients (chat completions, messages, responses, generative language, local runner), and the management of providers, keys, routing and limits.\n\nEvery answer has `X-Gateway-Request-Id` and `X-Gateway-Version`. Lists take `limit` and `cursor`. Answers of the management have an `ETag`: `If-None-Match` gets 304 for what is known, `If-Match` refuses a change of another version with 412. Fields of the management are in camel case with their unit; times are ISO 8601 and money is in USD, where nothing else is said. A management body with an unknown field is refused.",
  license: { name: "MIT", identifier: "MIT" }
}

export const servers: ReadonlyArray<JsonMap> = [
  { url: "/", description: "The gateway that serves this document." },
  {
    url: "http://{host}:{port}",
    description: "A gateway elsewhere.",
    variables: {
      host: { default: "127.0.0.1", description: "Its name or address." },
      port: { default: "20128", description: "Its port." }
    }
  }
]

const wireTags = {
  chat: { name: "Chat", description: "The wire of OpenAI's chat completions, completions, embeddings and models." },
  messages: { name: "Messages", description: "The wire of Anthropic's messages." },
  responses: { name: "Responses", description: "The wire of OpenAI's responses." },
  gemini: { name: "Gemini", description: "The wire of Google's generative language API." },
  ollama: { name: "Ollama", description: "The wire of Ollama, a local runner." }
} as const

/** Paths that lead to an operation of another path. */
export const aliasTag = {
  name: "Other paths",
  description: "The same operations at other paths, for clients that build theirs from other addresses."
} as const

const systemTag = "System"

export const tagOf = ({ wire }: EdgeRoute): string => (wire === null ? systemTag : wireTags[wire].name)

/** Groups of the contract that exist for the document only. */
const notShown = new Set(["inference", "pages"])

/** The wires first, then the management, the other paths last. */
export const tagsOf = (written: ReadonlyArray<Json>): ReadonlyArray<JsonMap> => [
  ...Object.values(wireTags),
  ...inOrder(
    tagOrder,
    written.filter(isMap).filter(({ name }) => !notShown.has(String(name))),
    ({ name }) => [String(name)]
  ),
  aliasTag
]

/** Adds to the schemes of the contract: the token that an unsafe request with the cookie needs, and Google's header. */
export const schemesOf = (written: JsonMap): JsonMap => ({
  ...schemesInOrder(written),
  csrf: {
    type: "apiKey",
    name: "X-CSRF-Token",
    in: "header",
    description: "The token of the login: needed with the cookie unless reading, and where models are asked always."
  },
  googleKeyHeader: {
    type: "apiKey",
    name: "x-goog-api-key",
    in: "header",
    description: "An API key of this gateway, where clients of the gemini wire put it."
  }
})

/**
 * Adds requirements that schemes cannot express: an unsafe request needs the token beside the cookie, and keys may be
 * optional.
 */
export const securityOf = (written: ReadonlyArray<Json>): ReadonlyArray<JsonMap> => {
  const withToken = (scheme: JsonMap): JsonMap => ("session" in scheme ? Object.assign({ csrf: [] }, scheme) : scheme)
  const pairs = written.filter(isMap).map(withToken)
  return pairs.some((scheme) => "apiKeyHeader" in scheme) ? [{}, ...pairs] : pairs
}

/** Selects the schemes of an operation of the edge; the key of an editor is in its path. */
export const edgeSecurityOf = (
  { path, tier, wire }: EdgeRoute,
  written: ReadonlyArray<JsonMap>
): ReadonlyArray<JsonMap> => {
  if (tier === "public" || path.includes(":token")) return []
  if (tier === "scrape") return [{}, { bearer: [] }]
  return wire === "gemini" ? [...written, { googleKeyHeader: [] }] : written
}
