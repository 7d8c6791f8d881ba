/** The routes that enter by the raw edge. `Routes.ts` joins them with the management routes in the one route table. */
import type { EndpointCategory } from "../subjects/keys/entity.ts"
import type { WireName } from "./domain/Wire.ts"
import type { Operation } from "./tiers/Rights.ts"

interface Shape<Handler, Key, Method, Tier, Wire> {
  readonly plane: "edge"
  /** Name of the handler that serves it, as `entry/server/Edge` has them. */
  readonly handler: Handler
  /** `<group>.<endpoint>`. Several spellings of one route share it. */
  readonly key: Key
  readonly method: Method
  /** Lower-case path; `:name` stands for one segment, `*` at the end for a rest that belongs to the route. */
  readonly path: string
  readonly tier: Tier
  /** Category that API keys are allowed by (`allowedEndpoints`); null: open to every key. */
  readonly category: EndpointCategory | null
  /** The wire format of answers and errors; null for the management format. */
  readonly wire: Wire
}

/** Routes that ask a model, or ask about a request to one. */
export type ConversationKey =
  | "inference.chat"
  | "inference.completions"
  | "inference.embeddings"
  | "inference.cohereEmbed"
  | "inference.ollamaEmbed"
  | "inference.ollamaEmbeddings"
  | "inference.rerank"
  | "inference.moderations"
  | "inference.speech"
  | "inference.images"
  | "inference.search"
  | "inference.transcriptions"
  | "inference.translations"
  | "inference.videos"
  | "inference.createVideo"
  | "inference.music"
  | "inference.imageEdits"
  | "inference.imageVariations"
  | "inference.messages"
  | "inference.responses"
  | "inference.gemini"
  | "inference.ollamaChat"
  | "inference.ollamaGenerate"
  | "inference.ollamaShow"
  | "inference.countTokens"
  | "inference.countResponseTokens"

export type InferenceRoute = Shape<"conversation", ConversationKey, "POST", "inference", WireName>

/** Small answers about the models on offer. */
export type ListingRoute = Shape<
  "listing",
  | "inference.models"
  | "inference.model"
  | "inference.geminiModels"
  | "inference.geminiModel"
  | "inference.ollamaTags"
  | "inference.ollamaVersion"
  | "inference.ollamaPs"
  | "inference.providerManifest",
  "GET",
  "inference",
  WireName
>

/** Other questions a client may ask before its first request. */
export type QuestionRoute = Shape<
  "listing",
  | "inference.embeddingModels"
  | "inference.imageModels"
  | "inference.videoModels"
  | "inference.musicModels"
  | "inference.providerModels"
  | "inference.searchProviders"
  | "inference.searchAnalytics"
  | "inference.editor"
  | "inference.handshake",
  "GET",
  "inference",
  "chat"
>

/** Uploaded files. */
export type FileRoute = Shape<
  "files",
  "inference.createFile" | "inference.files" | "inference.file" | "inference.deleteFile" | "inference.fileContent",
  "GET" | "POST" | "DELETE",
  "inference",
  "chat"
>

/** Batches of requests. */
export type BatchRoute = Shape<
  "batches",
  "inference.createBatch" | "inference.batches" | "inference.batch" | "inference.deleteBatch" | "inference.cancelBatch",
  "GET" | "POST" | "DELETE",
  "inference",
  "chat"
>

/** Jobs that make videos and music. */
export type JobRoute = Shape<
  "jobs",
  | "inference.videoJobs"
  | "inference.video"
  | "inference.deleteVideo"
  | "inference.cancelVideo"
  | "inference.videoContent"
  | "inference.song"
  | "inference.deleteSong"
  | "inference.cancelSong"
  | "inference.songContent",
  "GET" | "POST" | "DELETE",
  "inference",
  "chat"
>

/** Responses that were made in the background, by their id. */
export type ResponseRoute = Shape<
  "responses",
  "inference.response" | "inference.deleteResponse" | "inference.cancelResponse" | "inference.responseItems",
  "GET" | "POST" | "DELETE",
  "inference",
  "chat"
>

/** The MCP server: who may do what is decided by its tools. */
export type McpRoute = Shape<
  "mcp",
  "mcp.sendMessage" | "mcp.listen" | "mcp.endSession",
  "GET" | "POST" | "DELETE",
  "inference",
  null
>

/** The agent for other agents. */
export type A2aRoute = Shape<"a2a", "a2a.askAgent", "POST", "inference", null>

export type PublicRoute = Shape<"root", "system.root", "GET", "public", null>

/** People and teams that a directory pushes, in the forms of SCIM 2.0. */
export type ScimRoute = Shape<
  "scim",
  | "scim.config"
  | "scim.resourceTypes"
  | "scim.resourceType"
  | "scim.schemas"
  | "scim.schema"
  | `scim.${"create" | "get" | "replace" | "patch" | "remove"}${"User" | "Group"}`
  | "scim.listUsers"
  | "scim.listGroups",
  "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  "scim",
  null
> & {
  /** Right of people that opens it. */
  readonly operation: Operation
}

/** The pages of the dashboard and their files: the same for everybody; what they show is asked for with a session. */
export type DashboardRoute = Shape<"dashboard", "system.dashboard", "GET", "public", null>

export type MetricsRoute = Shape<"metrics", "system.metrics", "GET", "scrape", null>

export type EdgeRoute =
  | InferenceRoute
  | ListingRoute
  | QuestionRoute
  | FileRoute
  | BatchRoute
  | JobRoute
  | ResponseRoute
  | McpRoute
  | A2aRoute
  | PublicRoute
  | ScimRoute
  | DashboardRoute
  | MetricsRoute

/** Categories of the inference routes. */
const categories: Readonly<
  Record<InferenceRoute["key"] | ListingRoute["key"] | QuestionRoute["key"], EndpointCategory | null>
> = {
  "inference.chat": "chat",
  "inference.completions": "chat",
  "inference.messages": "chat",
  "inference.responses": "chat",
  "inference.gemini": "chat",
  "inference.ollamaChat": "chat",
  "inference.ollamaGenerate": "chat",
  "inference.countTokens": "chat",
  "inference.countResponseTokens": "chat",
  "inference.embeddings": "embeddings",
  "inference.cohereEmbed": "embeddings",
  "inference.ollamaEmbed": "embeddings",
  "inference.ollamaEmbeddings": "embeddings",
  "inference.rerank": "rerank",
  "inference.moderations": "moderations",
  "inference.speech": "audio",
  "inference.images": "images",
  "inference.imageModels": "images",
  "inference.videoModels": "video",
  "inference.musicModels": "music",
  "inference.search": "search",
  "inference.searchProviders": "search",
  "inference.searchAnalytics": "search",
  "inference.transcriptions": "audio",
  "inference.translations": "audio",
  "inference.videos": "video",
  "inference.createVideo": "video",
  "inference.music": "music",
  "inference.imageEdits": "images",
  "inference.imageVariations": "images",
  "inference.embeddingModels": "embeddings",
  "inference.ollamaShow": "models",
  "inference.models": "models",
  "inference.model": "models",
  "inference.providerModels": "models",
  "inference.geminiModels": "models",
  "inference.geminiModel": "models",
  "inference.ollamaTags": "models",
  "inference.ollamaPs": "models",
  "inference.providerManifest": "models",
  // They describe how a client talks to the gateway, and nothing that it serves.
  "inference.ollamaVersion": null,
  "inference.editor": null,
  "inference.handshake": null
}

const conversation = (
  key: ConversationKey,
  wire: WireName,
  ...paths: ReadonlyArray<string>
): ReadonlyArray<InferenceRoute> =>
  paths.map((path) => ({
    plane: "edge",
    handler: "conversation",
    key,
    method: "POST",
    path,
    tier: "inference",
    category: categories[key],
    wire
  }))

const listing = (
  key: ListingRoute["key"],
  wire: WireName,
  ...paths: ReadonlyArray<string>
): ReadonlyArray<ListingRoute> =>
  paths.map((path) => ({
    plane: "edge",
    handler: "listing",
    key,
    method: "GET",
    path,
    tier: "inference",
    category: categories[key],
    wire
  }))

const question = (key: QuestionRoute["key"], path: string): QuestionRoute => ({
  plane: "edge",
  handler: "listing",
  key,
  method: "GET",
  path,
  tier: "inference",
  category: categories[key],
  wire: "chat"
})

/** Routes with objects of their own, which ask no model. */
const objectRoutes = <Handler extends string, Key extends string>(
  handler: Handler,
  category: EndpointCategory,
  ...routes: ReadonlyArray<[Key, "GET" | "POST" | "DELETE", ...ReadonlyArray<string>]>
): ReadonlyArray<Shape<Handler, Key, "GET" | "POST" | "DELETE", "inference", "chat">> =>
  routes.flatMap(([key, method, ...paths]) =>
    paths.map((path) => ({ plane: "edge", handler, key, method, path, tier: "inference", category, wire: "chat" }))
  )

/** People and teams that a directory pushes. */
const scimRoutes = (
  ...routes: ReadonlyArray<[ScimRoute["key"], ScimRoute["method"], string]>
): ReadonlyArray<ScimRoute> =>
  routes.map(([key, method, path]) => ({
    plane: "edge",
    handler: "scim",
    key,
    method,
    path: `/scim/v2${path}`,
    tier: "scim",
    operation: "pushPeople",
    category: null,
    wire: null
  }))

const mcpRoutes = (path: string): ReadonlyArray<McpRoute> => {
  const shared = { plane: "edge", handler: "mcp", path, tier: "inference", category: "agents", wire: null } as const
  return [
    { ...shared, key: "mcp.sendMessage", method: "POST" },
    { ...shared, key: "mcp.listen", method: "GET" },
    { ...shared, key: "mcp.endSession", method: "DELETE" }
  ]
}

/** The prefix with the key in the path, for clients that cannot send headers. The same routes under another path. */
export const editorPath = "/api/v1/editor/:token"

const editor = (...paths: ReadonlyArray<string>): ReadonlyArray<string> => paths.map((path) => editorPath + path)

/** An editor was given the address with or without `/v1`, and puts its own path behind it. */
const editorBoth = (path: string): ReadonlyArray<string> => editor(path, `/v1${path}`)

/** Routes that serve one provider only. */
const ofProvider = (path: string): string => `/v1/providers/:provider${path}`

// Ollama clients put `/api/…` behind whatever host they were given, with or without `/v1`.
const ollama = (name: string): [string, string] => [`/api/${name}`, `/v1/api/${name}`]

export const edgeRoutes: ReadonlyArray<EdgeRoute> = [
  ...conversation(
    "inference.chat",
    "chat",
    "/v1/chat/completions",
    "/chat/completions",
    ofProvider("/chat/completions"),
    ...editorBoth("/chat/completions")
  ),
  ...conversation(
    "inference.completions",
    "chat",
    "/v1/completions",
    "/completions",
    ofProvider("/completions"),
    ...editorBoth("/completions")
  ),
  ...conversation(
    "inference.embeddings",
    "chat",
    "/v1/embeddings",
    "/embeddings",
    ofProvider("/embeddings"),
    ...editorBoth("/embeddings")
  ),
  ...conversation("inference.cohereEmbed", "chat", "/v2/embed"),
  ...conversation("inference.rerank", "chat", "/v1/rerank", "/rerank", "/v2/rerank", ...editorBoth("/rerank")),
  ...conversation("inference.moderations", "chat", "/v1/moderations", "/moderations", ...editorBoth("/moderations")),
  ...conversation("inference.speech", "chat", "/v1/audio/speech", "/audio/speech", ...editorBoth("/audio/speech")),
  ...conversation(
    "inference.images",
    "chat",
    "/v1/images/generations",
    "/images/generations",
    ofProvider("/images/generations"),
    ...editorBoth("/images/generations")
  ),
  ...conversation(
    "inference.transcriptions",
    "chat",
    "/v1/audio/transcriptions",
    "/audio/transcriptions",
    ...editorBoth("/audio/transcriptions")
  ),
  ...conversation(
    "inference.translations",
    "chat",
    "/v1/audio/translations",
    "/audio/translations",
    ...editorBoth("/audio/translations")
  ),
  ...conversation("inference.videos", "chat", "/v1/videos/generations"),
  // OpenAI's own: a job in any case, as a form or as JSON.
  ...conversation("inference.createVideo", "chat", "/v1/videos"),
  ...conversation("inference.music", "chat", "/v1/music/generations"),
  ...conversation("inference.imageEdits", "chat", "/v1/images/edits", "/images/edits", ...editorBoth("/images/edits")),
  ...conversation(
    "inference.imageVariations",
    "chat",
    "/v1/images/variations",
    "/images/variations",
    ...editorBoth("/images/variations")
  ),
  ...conversation("inference.messages", "messages", "/v1/messages", ...editor("/v1/messages")),
  ...conversation(
    "inference.responses",
    "responses",
    "/v1/responses",
    "/responses",
    "/api/v1/responses",
    ...editorBoth("/responses")
  ),
  ...conversation("inference.gemini", "gemini", "/v1beta/*"),
  ...conversation("inference.ollamaChat", "ollama", ...ollama("chat"), ...editor(...ollama("chat"))),
  ...conversation("inference.ollamaGenerate", "ollama", ...ollama("generate"), ...editor(...ollama("generate"))),
  ...conversation("inference.ollamaEmbed", "ollama", ...ollama("embed"), ...editor(...ollama("embed"))),
  ...conversation("inference.ollamaEmbeddings", "ollama", ...ollama("embeddings"), ...editor(...ollama("embeddings"))),
  ...conversation("inference.ollamaShow", "ollama", ...ollama("show"), ...editor(...ollama("show"))),
  ...conversation(
    "inference.countTokens",
    "messages",
    "/v1/messages/count_tokens",
    ...editor("/v1/messages/count_tokens")
  ),
  ...conversation(
    "inference.countResponseTokens",
    "responses",
    "/v1/responses/input_tokens",
    "/responses/input_tokens",
    ...editor("/v1/responses/input_tokens")
  ),
  ...conversation("inference.search", "chat", "/v1/search", ...editor("/v1/search")),
  question("inference.searchProviders", "/v1/search"),
  question("inference.searchAnalytics", "/v1/search/analytics"),
  question("inference.embeddingModels", "/v1/embeddings"),
  question("inference.imageModels", "/v1/images/generations"),
  question("inference.videoModels", "/v1/videos/generations"),
  question("inference.musicModels", "/v1/music/generations"),
  question("inference.providerModels", ofProvider("/models")),
  question("inference.editor", editorPath),
  question("inference.handshake", "/v1/ws"),
  ...listing("inference.models", "chat", "/v1/models", "/models", ...editorBoth("/models")),
  ...listing("inference.model", "chat", "/v1/models/*", ...editor("/v1/models/*")),
  ...listing("inference.geminiModels", "gemini", "/v1beta/models"),
  ...listing("inference.geminiModel", "gemini", "/v1beta/models/*"),
  ...listing("inference.ollamaTags", "ollama", ...ollama("tags"), ...editor(...ollama("tags"))),
  ...listing("inference.ollamaVersion", "ollama", ...ollama("version"), ...editor(...ollama("version"))),
  ...listing("inference.ollamaPs", "ollama", ...ollama("ps")),
  // The registry without secrets, accounts or nodes, for other routers: they need only their own key.
  ...listing("inference.providerManifest", "chat", "/api/v1/provider-plugin-manifest"),
  // With OpenAI's own spelling of them.
  ...objectRoutes(
    "jobs",
    "video",
    ["inference.videoJobs", "GET", "/v1/videos"],
    ["inference.video", "GET", "/v1/videos/generations/:job", "/v1/videos/:job"],
    ["inference.deleteVideo", "DELETE", "/v1/videos/generations/:job", "/v1/videos/:job"],
    ["inference.cancelVideo", "POST", "/v1/videos/generations/:job/cancel"],
    ["inference.videoContent", "GET", "/v1/videos/generations/:job/content", "/v1/videos/:job/content"]
  ),
  ...objectRoutes(
    "jobs",
    "music",
    ["inference.song", "GET", "/v1/music/generations/:job"],
    ["inference.deleteSong", "DELETE", "/v1/music/generations/:job"],
    ["inference.cancelSong", "POST", "/v1/music/generations/:job/cancel"],
    ["inference.songContent", "GET", "/v1/music/generations/:job/content"]
  ),
  ...["/v1/responses/:response", "/responses/:response"].flatMap((path) =>
    objectRoutes(
      "responses",
      "chat",
      ["inference.response", "GET", path],
      ["inference.deleteResponse", "DELETE", path],
      ["inference.cancelResponse", "POST", `${path}/cancel`],
      ["inference.responseItems", "GET", `${path}/input_items`]
    )
  ),
  ...objectRoutes(
    "files",
    "files",
    ["inference.createFile", "POST", "/v1/files"],
    ["inference.files", "GET", "/v1/files"],
    ["inference.file", "GET", "/v1/files/:file"],
    ["inference.deleteFile", "DELETE", "/v1/files/:file"],
    ["inference.fileContent", "GET", "/v1/files/:file/content"]
  ),
  ...objectRoutes(
    "batches",
    "batches",
    ["inference.createBatch", "POST", "/v1/batches"],
    ["inference.batches", "GET", "/v1/batches"],
    ["inference.batch", "GET", "/v1/batches/:batch"],
    ["inference.deleteBatch", "DELETE", "/v1/batches/:batch"],
    ["inference.cancelBatch", "POST", "/v1/batches/:batch/cancel"]
  ),
  ...mcpRoutes("/mcp"),
  ...mcpRoutes("/api/mcp/stream"),
  {
    plane: "edge",
    handler: "a2a",
    key: "a2a.askAgent",
    method: "POST",
    path: "/a2a",
    tier: "inference",
    category: "agents",
    wire: null
  },
  ...scimRoutes(
    ["scim.config", "GET", "/serviceproviderconfig"],
    ["scim.resourceTypes", "GET", "/resourcetypes"],
    ["scim.resourceType", "GET", "/resourcetypes/:id"],
    ["scim.schemas", "GET", "/schemas"],
    ["scim.schema", "GET", "/schemas/:id"],
    ["scim.listUsers", "GET", "/users"],
    ["scim.createUser", "POST", "/users"],
    ["scim.getUser", "GET", "/users/:id"],
    ["scim.replaceUser", "PUT", "/users/:id"],
    ["scim.patchUser", "PATCH", "/users/:id"],
    ["scim.removeUser", "DELETE", "/users/:id"],
    ["scim.listGroups", "GET", "/groups"],
    ["scim.createGroup", "POST", "/groups"],
    ["scim.getGroup", "GET", "/groups/:id"],
    ["scim.replaceGroup", "PUT", "/groups/:id"],
    ["scim.patchGroup", "PATCH", "/groups/:id"],
    ["scim.removeGroup", "DELETE", "/groups/:id"]
  ),
  {
    plane: "edge",
    handler: "metrics",
    key: "system.metrics",
    method: "GET",
    path: "/metrics",
    tier: "scrape",
    category: null,
    wire: null
  },
  ...(["/dashboard", "/dashboard/*"] as const).map((path): DashboardRoute => ({
    plane: "edge",
    handler: "dashboard",
    key: "system.dashboard",
    method: "GET",
    path,
    tier: "public",
    category: null,
    wire: null
  })),
  // Clients probe the root before their first request.
  {
    plane: "edge",
    handler: "root",
    key: "system.root",
    method: "GET",
    path: "/",
    tier: "public",
    category: null,
    wire: null
  }
]
