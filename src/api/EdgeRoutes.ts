/**
 * The routes that enter by the raw edge, as part of the one route table (`Routes.ts` joins them with the management routes).
 * A file of its own, so that the request path does not load the management contract.
 */
interface Shape<Key, Tier, Wire> {
  /** `<group>.<endpoint>`, unique. */
  readonly key: Key
  readonly method: "GET" | "POST"
  /** Lower-case path without parameters. */
  readonly path: string
  readonly tier: Tier
  /** The wire format of answers and errors; null for the management format. */
  readonly wire: Wire
}

/** A route that carries a conversation. */
export type InferenceRoute =
  | Shape<"inference.chat", "inference", "chat">
  | Shape<"inference.messages", "inference", "messages">

export type EdgeRoute =
  | InferenceRoute
  | Shape<"inference.models", "inference", "chat">
  | Shape<"system.metrics" | "system.root", "public", null>

export const edgeRoutes: ReadonlyArray<EdgeRoute> = [
  { key: "inference.chat", method: "POST", path: "/v1/chat/completions", tier: "inference", wire: "chat" },
  { key: "inference.messages", method: "POST", path: "/v1/messages", tier: "inference", wire: "messages" },
  { key: "inference.models", method: "GET", path: "/v1/models", tier: "inference", wire: "chat" },
  { key: "system.metrics", method: "GET", path: "/metrics", tier: "public", wire: null },
  // Clients probe the root before their first request.
  { key: "system.root", method: "GET", path: "/", tier: "public", wire: null }
]

const byRequest: ReadonlyMap<string, EdgeRoute> = new Map(
  edgeRoutes.flatMap((route) =>
    route.method === "GET"
      ? [
          [`GET ${route.path}`, route],
          [`HEAD ${route.path}`, route]
        ]
      : [[`${route.method} ${route.path}`, route]]
  )
)

/** The edge route at an exact path, whatever the method. */
export const edgeRouteAt = (path: string): EdgeRoute | null => edgeRoutes.find((route) => route.path === path) ?? null

/** Hot: the edge route of a method and an exact path. */
export const edgeRoute = (method: string, path: string): EdgeRoute | null => byRequest.get(`${method} ${path}`) ?? null
