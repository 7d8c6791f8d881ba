/** One body, two readings: the gateway judges it by one of them, and an upstream, a plugin or a provider's batch obeys the other. */
import type { EdgeRoute } from "../../../src/contract/EdgeRoutes.ts"
import { managementRoutes, streamedBodies } from "../../../src/contract/ManagementRoutes.ts"
import { routes } from "../../../src/contract/Routes.ts"
import { WebSocket } from "ws"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { Answer } from "../RawHttp.ts"
import { adminKey, type Arena } from "../Arena.ts"
import { once } from "../Once.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"
import { attemptsAt, type Place, type Reply } from "../Readings.ts"
import { batchLines } from "./readingsOfBatches.ts"
import { formFields } from "./readingsOfForms.ts"
import { endpoints } from "./management.ts"

const json = { "content-type": "application/json" }

const replyOf = ({ status, text }: Answer): Reply => ({ isRefused: status === 400, text })

type EdgeKey = EdgeRoute["key"]
type Body = readonly [Readonly<Record<string, unknown>>, string]

const question = { model: "m", stream: false, max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }
const embedding: Body = [{ model: "m", input: "Hi", dimensions: 8 }, "model input dimensions"]
const picture: Body = [{ model: "m", prompt: "A cat", n: 1, size: "1x1" }, "model prompt n"]
const film: Body = [{ model: "m", prompt: "A cat", seconds: "4" }, "model prompt seconds"]
const gemini = {
  contents: [{ role: "user", parts: [{ text: "Hi" }] }],
  systemInstruction: { parts: [{ text: "Be brief." }] },
  generationConfig: { maxOutputTokens: 9, stopSequences: ["x"] },
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }],
  tools: [{ functionDeclarations: [{ name: "f", description: "d" }] }]
}
const responses: Body = [
  {
    model: "m",
    instructions: "Be brief.",
    max_output_tokens: 16,
    input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
    tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
    tool_choice: { type: "function", name: "f" },
    reasoning: { effort: "low" }
  },
  "model input instructions max_output_tokens input.0.role tools.0.name input.0.content.0.text tool_choice.name reasoning.effort"
]
const messages: Body = [
  {
    ...question,
    system: [{ type: "text", text: "Be brief." }],
    tools: [{ name: "f", input_schema: { type: "object" } }],
    tool_choice: { type: "tool", name: "f" },
    thinking: { type: "enabled", budget_tokens: 1_024 },
    metadata: { user_id: "u" }
  },
  "model messages max_tokens stream system messages.0.role messages.0.content system.0.text tools.0.name tool_choice.name thinking.budget_tokens metadata.user_id"
]

/** A body of every route that takes one, and its members. */
const bodies: Partial<Readonly<Record<EdgeKey, Body>>> = {
  "inference.chat": [
    {
      ...question,
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "f" } },
      functions: [{ name: "f" }],
      reasoning: { effort: "low", max_tokens: 9 },
      stream_options: { include_usage: true },
      response_format: { type: "json_schema", json_schema: { name: "s", schema: {} } }
    },
    "model messages max_tokens stream tools messages.0.role messages.0.content tools.0.function.name tool_choice.function.name functions.0.name reasoning.max_tokens stream_options.include_usage response_format.json_schema.schema"
  ],
  "inference.completions": [{ model: "m", prompt: "Hi", max_tokens: 9 }, "model prompt max_tokens"],
  "inference.embeddings": embedding,
  "inference.cohereEmbed": [{ model: "m", texts: ["Hi"], input_type: "search_query" }, "model texts input_type"],
  "inference.ollamaEmbed": embedding,
  "inference.ollamaEmbeddings": [{ model: "m", prompt: "Hi" }, "model prompt"],
  "inference.rerank": [{ model: "m", query: "q", documents: ["a"], top_n: 1 }, "model query documents top_n"],
  "inference.moderations": [{ model: "m", input: "Hi" }, "model input"],
  "inference.speech": [{ model: "m", input: "Hi", voice: "v", speed: 1 }, "model input voice speed"],
  "inference.images": picture,
  "inference.imageEdits": [{ ...picture[0], image: "data:image/png;base64,AA==" }, picture[1]],
  "inference.search": [
    { query: "q", max_results: 3, filters: { include_domains: ["a.example"] } },
    "query max_results filters.include_domains"
  ],
  "inference.videos": film,
  "inference.createVideo": film,
  "inference.music": film,
  "inference.messages": messages,
  "inference.countTokens": messages,
  "inference.responses": responses,
  "inference.countResponseTokens": responses,
  "inference.gemini": [
    gemini,
    "contents systemInstruction generationConfig contents.0.role tools contents.0.parts.0.text generationConfig.maxOutputTokens safetySettings.0.threshold tools.0.functionDeclarations tools.0.functionDeclarations.0.name"
  ],
  "inference.ollamaChat": [
    { ...question, options: { num_predict: 9 } },
    "model messages messages.0.content options options.num_predict"
  ],
  "inference.ollamaGenerate": [
    { model: "m", prompt: "Hi", system: "Be brief.", options: { num_predict: 9 } },
    "model prompt system options.num_predict"
  ],
  "inference.ollamaShow": [{ model: "m" }, "model"],
  "inference.createBatch": [
    { input_file_id: "file-x", endpoint: "/v1/chat/completions", completion_window: "24h", metadata: { a: "b" } },
    "input_file_id endpoint completion_window"
  ]
}

/** A node of every wire, so that a body which is taken reaches an upstream. */
const nodeOf = once(async ({ node, open, connection }, wire: WireName) => {
  const { prefix } = await node(open, wire)
  await connection(open, prefix)
  return prefix
})
const keyOf = once(async ({ open }) => String((await open.must("POST", "/api/keys", { name: "two readings" })).secret))

const geminiCalls = ["generateContent", "streamGenerateContent", "countTokens", "embedContent"]

const pathsOf = (path: string): ReadonlyArray<string> =>
  path === "/v1beta/*" ? geminiCalls.map((call) => `/v1beta/models/:provider/m:${call}`) : [path]

const atRoute = (key: EdgeKey, route: string, [body, members]: Body, wire: WireName | null): Place => ({
  name: route,
  body,
  members,
  send: async (arena, text) => {
    const prefix = wire === null ? "none" : await nodeOf(arena, wire)
    const path = route
      .replace(":provider", prefix)
      .replace(":token", route.includes(":token") ? await keyOf(arena) : "")
    const own = key === "inference.search" ? text : text.replaceAll('"m"', JSON.stringify(`${prefix}/m`))
    return replyOf(await arena.open.send({ method: "POST", path, headers: json, body: own }))
  }
})

/** Every member at the first path of a route, one at its others. */
const askingPlaces: ReadonlyArray<Place> = (() => {
  const seen = new Set<string>()
  return routes.flatMap((route) => {
    const body = route.method === "POST" && route.plane === "edge" ? bodies[route.key] : undefined
    if (body === undefined || route.plane !== "edge") return []
    const members = seen.has(route.key) ? body[1].replace(/ .*/, "") : body[1]
    seen.add(route.key)
    return pathsOf(route.path).map((path) => atRoute(route.key, path, [body[0], members], route.wire))
  })
})()

/** A job is answered before its request is sent on: it is refused before that as well. */
const jobPlaces = (["inference.images", "inference.videos", "inference.music"] as const).flatMap(
  (key): ReadonlyArray<Place> => {
    const [body, members] = bodies[key] ?? picture
    const route = routes.find((each) => each.key === key && each.method === "POST")
    return route === undefined
      ? []
      : [
          {
            ...atRoute(key, route.path, [{ ...body, async: true }, `${members} async`], "chat"),
            name: `${route.path} as a job`
          }
        ]
  }
)

/** A socket's first frames up to one that the words of `isAnswer` fit. */
const onSocket = (
  arena: Arena,
  path: string,
  headers: Readonly<Record<string, string>>,
  text: string
): Promise<Reply> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${arena.open.port}${path}`, { headers, handshakeTimeout: 15_000 })
    const done = (reply: Reply): void => {
      clearTimeout(timer)
      socket.terminate()
      resolve(reply)
    }
    const timer = setTimeout(() => done({ isRefused: false, text: "no answer" }), 15_000)
    socket.on("open", () => socket.send(text))
    socket.on("message", (data) => {
      const told = String(data)
      // Events of the feed come whether anything was asked or not.
      if (/^\{"type":"(?:hello|welcome|session|event")/.test(told)) return
      done({ isRefused: told.includes('"error"'), text: told })
    })
    socket.on("close", () => done({ isRefused: false, text: "closed without a word" }))
    socket.on("error", (error) => done({ isRefused: false, text: String(error) }))
  })

const frame = { type: "response.create", event_id: "e", stream_id: "s" }
const socketPlaces: ReadonlyArray<Place> = [
  ...["/v1/responses", "/responses"].map((path): Place => ({
    name: `a frame at ${path}`,
    body: { ...frame, ...responses[0] },
    members: `${responses[1]} type stream_id event_id`,
    send: (arena, text) => onSocket(arena, path, {}, text)
  })),
  {
    name: "a frame with its request inside",
    holder: "response",
    body: { ...frame, response: responses[0] },
    members: "response type response.model response.input",
    send: (arena, text) => onSocket(arena, "/v1/responses", {}, text)
  },
  {
    name: "a frame of the live feed",
    body: { type: "subscribe", channels: ["health"] },
    members: "type channels",
    send: (arena, text) => onSocket(arena, "/api/live", { authorization: `Bearer ${adminKey}` }, text)
  }
]

const call = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "gateway_get_health", arguments: { a: { b: 1 } } }
}
const rpcMembers: string = "jsonrpc id method params"
const mcpHeaders = { ...json, authorization: `Bearer ${adminKey}`, accept: "application/json, text/event-stream" }
const atMcp = (path: string, body: Place["body"], members: string): Place => ({
  name: `${path} ${String(body["method"])}`,
  body,
  members,
  send: async ({ open }, text) => replyOf(await open.send({ method: "POST", path, headers: mcpHeaders, body: text }))
})
const completion = {
  jsonrpc: "2.0",
  id: 2,
  method: "completion/complete",
  params: { ref: { type: "ref/prompt", name: "diagnose" }, argument: { name: "id", value: "x" } }
}
const mcpPlaces: ReadonlyArray<Place> = [
  atMcp("/mcp", call, `${rpcMembers} params.name params.arguments`),
  atMcp("/mcp", completion, "params.ref params.ref.name params.argument.value"),
  atMcp("/api/mcp/stream", call, "method params.name")
]

const withAgent = once(async ({ open }) => void (await open.must("PATCH", "/api/settings", { a2aEnabled: true })))
const atAgent = (params: object, members: string): Place => ({
  name: `/a2a with ${Object.keys(params)[0] ?? ""}`,
  body: { jsonrpc: "2.0", id: 1, method: "message/send", params },
  members: `${rpcMembers} ${members.replaceAll(/\S+/g, "params.$&")}`,
  send: async (arena, text) => {
    await withAgent(arena)
    return replyOf(await arena.open.send({ method: "POST", path: "/a2a", headers: json, body: text }))
  }
})
const agentPlaces: ReadonlyArray<Place> = [
  atAgent(
    {
      message: { role: "user", messageId: "m", contextId: "c", parts: [{ kind: "text", text: "list-capabilities" }] },
      metadata: { model: "none/m", skill: "list-capabilities" },
      configuration: { blocking: true }
    },
    "message metadata message.role message.parts message.contextId message.parts.0.text metadata.model metadata.skill configuration.blocking"
  ),
  atAgent(
    { messages: [{ role: "user", content: "list-capabilities" }], skill: "list-capabilities" },
    "messages skill messages.0.role messages.0.content"
  )
]

/** Text of a body whose member is named twice, and that member's path. */
const repeats: Readonly<Record<string, readonly [string, string]>> = {
  "a member twice": ['{"name":"a","name":"b"}', "name"],
  "a member twice, once by an escape": ['{"name":"a","\\u006eame":"b"}', "name"],
  "a member twice in a list": ['{"list":[{"a":1},{"b":1,"b":2}]}', "list.1.b"],
  "a member of no name twice": ['{"name":{"":1,"":2}}', "name."]
}

const isStreamed = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  managementRoutes.some((route) => route.method === method && route.path === path && streamedBodies.has(route.key))

const managing = pairs(
  endpoints.filter((endpoint) => !isStreamed(endpoint)),
  Object.entries(repeats)
).map(([{ method, path }, [name, [text, named]]]): Attempt => ({
  name: `${method} ${path} with ${name}`,
  run: async ({ open }) => {
    const answer = await open.manage(method, path.replaceAll(/:[a-zA-Z]+/g, "none"), text)
    // Routes for sessions only are closed before their body is read.
    if (answer.status === 401 || answer.status === 403) return null
    if (answer.status !== 400) return `${answer.status}: ${answer.text.slice(0, 160)}`
    return answer.text.includes(`${named}: the member is repeated`) ? null : `400: ${answer.text.slice(0, 160)}`
  }
}))

const managed = (path: string, body: Place["body"], members: string): Place => ({
  name: `POST ${path}`,
  body,
  members,
  send: async ({ open }, text) => replyOf(await open.manage("POST", path, text))
})
/** Of bodies that would be taken as they should be, the members that differ by their case are unknown ones. */
const managedPlaces: ReadonlyArray<Place> = [
  managed(
    "/api/keys",
    { name: "two readings", scopes: [], rateLimits: [{ limit: 5, window: 60 }] },
    "scopes rateLimits rateLimits.0.limit"
  ),
  managed("/api/providers", { provider: "openai", name: "two readings", apiKey: "key-0123456789" }, "provider apiKey")
]

const places = [...askingPlaces, ...jobPlaces, ...socketPlaces, ...mcpPlaces, ...agentPlaces, ...managedPlaces]

export const readings: AttackClass = {
  name: "two readings",
  atOnce: 8,
  attempts: [...places.flatMap(attemptsAt), ...formFields, ...batchLines, ...managing]
}
