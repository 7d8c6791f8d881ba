/**
 * The routes that enter by the raw edge, as part of the one route table (`Routes.ts` joins them with the management routes).
 * A file of its own, so that the request path does not load the management contract.
 */
import type { WireName } from "../domain/Wire.ts"

interface Shape<Key, Method, Tier, Wire> {
  /** `<group>.<endpoint>`. Several spellings of one route share it. */
  readonly key: Key
  readonly method: Method
  /** Lower-case path; `*` at the end stands for a rest that belongs to the route. */
  readonly path: string
  readonly tier: Tier
  /** The wire format of answers and errors; null for the management format. */
  readonly wire: Wire
}

/** Routes that take a conversation, or a question about one. */
export type ConversationKey =
  | "inference.chat"
  | "inference.messages"
  | "inference.responses"
  | "inference.gemini"
  | "inference.ollamaChat"
  | "inference.ollamaGenerate"
  | "inference.ollamaShow"
  | "inference.countTokens"

export type InferenceRoute = Shape<ConversationKey, "POST", "inference", WireName>

/** Small answers about the models on offer. */
export type ListingRoute = Shape<
  | "inference.models"
  | "inference.model"
  | "inference.geminiModels"
  | "inference.geminiModel"
  | "inference.ollamaTags"
  | "inference.ollamaVersion"
  | "inference.ollamaPs",
  "GET",
  "inference",
  WireName
>

export type PublicRoute = Shape<"system.metrics" | "system.root", "GET", "public", null>

export type EdgeRoute = InferenceRoute | ListingRoute | PublicRoute

const conversation = (
  key: ConversationKey,
  wire: WireName,
  ...paths: ReadonlyArray<string>
): ReadonlyArray<InferenceRoute> => paths.map((path) => ({ key, method: "POST", path, tier: "inference", wire }))

const listing = (
  key: ListingRoute["key"],
  wire: WireName,
  ...paths: ReadonlyArray<string>
): ReadonlyArray<ListingRoute> => paths.map((path) => ({ key, method: "GET", path, tier: "inference", wire }))

// Ollama clients put `/api/…` behind whatever host they were given, with or without `/v1`.
const ollama = (name: string): [string, string] => [`/api/${name}`, `/v1/api/${name}`]

export const edgeRoutes: ReadonlyArray<EdgeRoute> = [
  ...conversation("inference.chat", "chat", "/v1/chat/completions", "/chat/completions"),
  ...conversation("inference.messages", "messages", "/v1/messages"),
  ...conversation("inference.responses", "responses", "/v1/responses", "/responses", "/api/v1/responses"),
  ...conversation("inference.gemini", "gemini", "/v1beta/*"),
  ...conversation("inference.ollamaChat", "ollama", ...ollama("chat")),
  ...conversation("inference.ollamaGenerate", "ollama", ...ollama("generate")),
  ...conversation("inference.ollamaShow", "ollama", ...ollama("show")),
  ...conversation("inference.countTokens", "messages", "/v1/messages/count_tokens"),
  ...listing("inference.models", "chat", "/v1/models", "/models"),
  ...listing("inference.model", "chat", "/v1/models/*"),
  ...listing("inference.geminiModels", "gemini", "/v1beta/models"),
  ...listing("inference.geminiModel", "gemini", "/v1beta/models/*"),
  ...listing("inference.ollamaTags", "ollama", ...ollama("tags")),
  ...listing("inference.ollamaVersion", "ollama", ...ollama("version")),
  ...listing("inference.ollamaPs", "ollama", ...ollama("ps")),
  { key: "system.metrics", method: "GET", path: "/metrics", tier: "public", wire: null },
  // Clients probe the root before their first request.
  { key: "system.root", method: "GET", path: "/", tier: "public", wire: null }
]

const methodsOf = (route: EdgeRoute): ReadonlyArray<string> =>
  route.method === "GET" ? ["GET", "HEAD"] : [route.method]

const exact: ReadonlyMap<string, EdgeRoute> = new Map(
  edgeRoutes.flatMap((route) => methodsOf(route).map((method) => [`${method} ${route.path}`, route] as const))
)

const wild = edgeRoutes.filter((route) => route.path.endsWith("*"))

const covers = (route: EdgeRoute, path: string): boolean => path.startsWith(route.path.slice(0, -1))

/** The edge route at a lower-case path, whatever the method. */
export const edgeRouteAt = (path: string): EdgeRoute | null =>
  edgeRoutes.find((route) => route.path === path) ?? wild.find((route) => covers(route, path)) ?? null

/** Hot: the edge route of a method and an exact path. */
export const edgeRoute = (method: string, path: string): EdgeRoute | null => exact.get(`${method} ${path}`) ?? null

/** The edge route of a method and a lower-case path that has a rest of its own. */
export const wildRoute = (method: string, path: string): EdgeRoute | null =>
  wild.find((route) => methodsOf(route).includes(method) && covers(route, path)) ?? null
