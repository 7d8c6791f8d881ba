/** Adds the operations of the raw edge to the OpenAPI document: at every path of the route table. Pure. */
import { mcpError, wireErrors } from "../compat/WireErrors.ts"
import type { EdgeRoute } from "../EdgeRoutes.ts"
import { askedParameters, counted, everywhere, headersOf, served } from "./Headers.ts"
import { asMap, type JsonMap } from "./JsonSchemas.ts"
import { aliasOf, failureComponents, type Operation, referToFailure } from "./Operations.ts"
import { edgeSecurityOf, tagOf } from "./Texts.ts"

export interface Spelling {
  /** Path as OpenAPI writes it: `{name}` for a parameter. */
  readonly path: string
  /** Name of the endpoint in `CompatApi` that describes it. */
  readonly endpoint: string
}

/** A free rest has a model in it, and on the gemini wire what is done with it. */
const actions = {
  ":generateContent": "generateContent",
  ":streamGenerateContent": "streamGenerateContent",
  ":countTokens": "countContentTokens",
  ":embedContent": "embedContent",
  ":batchEmbedContents": "batchEmbedContents"
} as const

const templated = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}")

/** The paths of a route as OpenAPI can say them. */
export const spellingsOf = ({ key, path }: EdgeRoute): ReadonlyArray<Spelling> => {
  if (key === "inference.gemini") {
    return Object.entries(actions).map(([action, endpoint]) => ({
      path: `${templated(path).replace("/*", "/models/{model}")}${action}`,
      endpoint
    }))
  }
  return [{ path: templated(path).replace("/*", "/{model}"), endpoint: key.slice(key.indexOf(".") + 1) }]
}

interface Streamed {
  readonly contentType: string
  readonly example: string
}

const events = (...lines: ReadonlyArray<string>): Streamed => ({
  contentType: "text/event-stream",
  example: lines.map((line) => `${line}\n`).join("")
})

const lines = (...objects: ReadonlyArray<string>): Streamed => ({
  contentType: "application/x-ndjson",
  example: objects.map((object) => `${object}\n`).join("")
})

/** Examples of the streams of an endpoint. Endpoints that are missing here do not stream. */
const streams: Readonly<Record<string, Streamed>> = {
  chat: events(
    'data: {"id":"chatcmpl-abc123","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello."}}]}',
    "",
    "data: [DONE]",
    ""
  ),
  completions: events(
    'data: {"object":"text_completion","choices":[{"index":0,"text":" there"}]}',
    "",
    "data: [DONE]",
    ""
  ),
  messages: events(
    "event: content_block_delta",
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}',
    "",
    "event: message_stop",
    'data: {"type":"message_stop"}',
    ""
  ),
  responses: events(
    "event: response.output_text.delta",
    'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hello."}',
    ""
  ),
  streamGenerateContent: events(
    'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hello."}]},"finishReason":"STOP"}]}',
    ""
  ),
  ollamaChat: lines(
    '{"model":"auto","message":{"role":"assistant","content":"Hello."},"done":false}',
    '{"model":"auto","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}'
  ),
  ollamaGenerate: lines(
    '{"model":"auto","response":"Hello.","done":false}',
    '{"model":"auto","response":"","done":true}'
  )
}

/** Endpoints that count tokens and ask no model. */
const counts: ReadonlySet<string> = new Set(["countTokens", "countResponseTokens", "countContentTokens"])

/** Statuses of refused and failed requests to a model, and what they mean. */
const failures: Readonly<Record<string, string>> = {
  400: "The request is wrong.",
  401: "No key was given, or it is not valid here.",
  402: "The balance at the provider is used up.",
  403: "The key may not do this, or the request comes from a foreign web page.",
  404: "The model is not known.",
  405: "The route does not answer this method now.",
  406: "The client reads none of the types of the answer.",
  413: "The body is larger than `GATEWAY_MAX_BODY_MB`.",
  415: "The body is compressed, or a browser's that is not `application/json`.",
  409: "The batch or job is not in a state in which this can be done.",
  410: "The bytes are no longer there.",
  416: "The range begins behind the end of the file.",
  426: "A socket was asked for; it is opened elsewhere.",
  429: "A limit is reached, here or at the provider.",
  500: "A fault of the gateway; its log has the details.",
  502: "The provider did not answer as it should.",
  503: "Nothing can serve this now.",
  504: "The provider took too long."
}

/** `components.responses` of every wire. */
export const wireFailures: JsonMap = Object.assign(
  {},
  ...[...new Set([...Object.values(wireErrors), mcpError])].map((schema) => failureComponents(schema, failures))
)

const isAsking = ({ category, method, path, tier }: EdgeRoute): boolean =>
  method === "POST" &&
  tier === "inference" &&
  category !== "files" &&
  category !== "batches" &&
  category !== "agents" &&
  !path.includes("/:job")

/** Statuses of other routes than those that ask a model. */
const otherStatuses: ReadonlySet<string> = new Set(["405", "406", "409", "410", "416", "426"])

/** Statuses of files and batches. */
const objectStatuses: Readonly<Record<string, ReadonlyArray<string>>> = {
  createFile: ["413", "415"],
  fileContent: ["416"],
  createBatch: ["413", "415", "429"],
  cancelBatch: ["409", "415"],
  deleteBatch: ["409"]
}

const isRpc = ({ key }: EdgeRoute): boolean => key.startsWith("mcp.") || key.startsWith("a2a.")

/** Statuses of routes of JSON-RPC, beside those that all of its routes have. */
const rpcStatuses: Readonly<Record<string, ReadonlyArray<string>>> = {
  sendMessage: ["406", "413", "415"],
  askAgent: ["413", "415"],
  listen: ["406"]
}

const statusesOf = (route: EdgeRoute, endpoint: string): ReadonlyArray<string> => {
  if (isRpc(route)) return ["400", "401", "403", "404", ...(rpcStatuses[endpoint] ?? []), "503"]
  if (route.tier === "public") return ["403"]
  if (route.tier === "scrape") return ["401", "403"]
  if (isAsking(route)) return Object.keys(failures).filter((status) => !otherStatuses.has(status))
  if (route.category === "files" || route.category === "batches") {
    return ["400", "401", "403", "404", ...(objectStatuses[endpoint] ?? []), "500", "503"]
  }
  if (route.path.includes("/:job")) {
    const isContent = route.path.endsWith("/content")
    return ["401", "403", "404", "409", ...(isContent ? ["410"] : []), "500", ...(isContent ? ["502", "504"] : [])]
  }
  return ["400", "401", "403", "404", ...(endpoint === "handshake" ? ["426"] : [])]
}

const page: JsonMap = {
  "text/html": {
    schema: { type: "string", description: "A page for people." },
    example: "<!doctype html><title>Gateway</title>"
  }
}

const contentOf = (endpoint: string, content: JsonMap): JsonMap => {
  const stream = streams[endpoint]
  if (endpoint === "root") return { ...content, ...page }
  if (stream === undefined) return content
  const schema = { type: "string", description: "The parts of the answer, as they are made." }
  return { ...content, [stream.contentType]: { schema, example: stream.example } }
}

const headersOfAnswer = (route: EdgeRoute, endpoint: string): JsonMap => {
  if (counts.has(endpoint)) return headersOf(everywhere, counted)
  return headersOf(everywhere, isAsking(route) && endpoint !== "ollamaShow" ? served : {})
}

const answersOf = (route: EdgeRoute, endpoint: string, written: JsonMap): JsonMap => ({
  200: {
    description: endpoint in streams ? "The whole answer, or a stream of its parts." : "The answer.",
    headers: headersOfAnswer(route, endpoint),
    content: contentOf(endpoint, asMap(asMap(written["200"])["content"]))
  },
  ...Object.fromEntries(
    statusesOf(route, endpoint).map((status) => [
      status,
      referToFailure(isRpc(route) ? mcpError : wireErrors[route.wire ?? "chat"], status)
    ])
  )
})

/** The operation with an example that a route of one provider takes: `auto` is no model of it. */
const forProvider = (operation: Operation): Operation => {
  const body = asMap(operation["requestBody"])
  const media = asMap(asMap(body["content"])["application/json"])
  const example = asMap(media["example"])
  if (example["model"] !== "auto") return operation
  const content = { "application/json": { ...media, example: { ...example, model: "gpt-4o-mini" } } }
  return { ...operation, requestBody: { ...body, content } }
}

/**
 * Writes an operation of the contract for a path of the edge. `first` is the path at which it is first described; null:
 * this one.
 */
export const atPath = (
  route: EdgeRoute,
  { endpoint, path }: Spelling,
  operation: Operation,
  first: string | null
): Operation => ({
  ...(route.path.includes(":provider") ? forProvider(operation) : operation),
  ...(first === null ? { tags: [tagOf(route)] } : aliasOf(endpoint, path, operation, `${route.method} ${first}`)),
  security: edgeSecurityOf(route, operation.security),
  parameters: [...operation.parameters, ...(isAsking(route) ? askedParameters : [])],
  responses: answersOf(route, endpoint, operation.responses)
})
