/** The built gateway as the agents meet it: with a key of their own, and with upstreams that are added while it runs. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import * as Program from "../support/Program.ts"
import type { UpstreamWire } from "./upstream/Words.ts"

export const adminKey = "admin-key-of-the-agents-0123456789"

export interface Gateway {
  readonly url: string
  /** What it logged so far. */
  readonly log: () => string
  /** Of the agents. */
  readonly apiKey: string
  /** Adds a provider with one account and the wire's model; answers the name under which clients ask for the model. */
  readonly addUpstream: (wire: UpstreamWire, origin: string, prefix: string) => Promise<string>
}

const manage = async (url: string, path: string, body: unknown): Promise<Record<string, unknown>> => {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

/** `more`: variables of its environment besides those of every run. */
export const startWith = (more: Readonly<Record<string, string>>): Effect.Effect<Gateway, never, Scope> =>
  Effect.gen(function* () {
    const env = { GATEWAY_ADMIN_KEY: adminKey, REQUIRE_API_KEY: "true", GATEWAY_UPSTREAM_WS_ENABLED: "true", ...more }
    const { stderr, url } = yield* Program.start(env)
    const key = yield* Effect.promise(() => manage(url, "/api/keys", { name: "agents" }))
    return {
      url,
      log: stderr,
      apiKey: String(key["secret"]),
      addUpstream: async (wire, origin, prefix) => {
        await manage(url, "/api/provider-nodes", { name: prefix, prefix, ...wire.node(origin) })
        await manage(url, "/api/providers", {
          provider: prefix,
          name: prefix,
          apiKey: "upstream-key",
          models: [wire.model]
        })
        await manage(url, "/api/provider-models", {
          provider: prefix,
          modelId: wire.model,
          contextLength: 200_000,
          maxOutputTokens: 32_000,
          capabilities: { reasoning: true, toolCalling: true }
        })
        return `${prefix}/${wire.model}`
      }
    }
  })

export const start: Effect.Effect<Gateway, never, Scope> = startWith({})
