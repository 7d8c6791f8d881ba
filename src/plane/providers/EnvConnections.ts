/**
 * Connections made from well-known key variables, so that `auto` works with no configuration.
 * Addresses are never read from the environment: each key goes to the host the registry names.
 */
import * as Redacted from "effect/Redacted"
import type { Connection } from "../../subjects/connections/entity.ts"
import { healthy } from "../../subjects/connections/entity.ts"
import { isGatewayKey } from "../../kernel/secrets/GatewayKey.ts"
import { allProviders } from "./registry/index.ts"

/** Variables of provider keys that hold a gateway's own key instead: they make no connection. */
export const mistakenVariables = (env: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  allProviders.flatMap((spec) => spec.env).filter((name) => isGatewayKey(env.get(name) ?? ""))

/** Priority that comes after every connection of the operator with the usual small ones. */
const envPriority = 100

/**
 * One read-only connection per provider with a non-blank key variable, in registry order.
 * `nowMs` (epoch milliseconds) is its creation time.
 */
export const envConnections = (env: ReadonlyMap<string, string>, nowMs: number): ReadonlyArray<Connection> =>
  allProviders.flatMap((spec) => {
    const apiKey = spec.env
      .map((name) => env.get(name)?.trim() ?? "")
      .find((value) => value !== "" && !isGatewayKey(value))
    if (apiKey === undefined) return []
    const connection: Connection = {
      ...healthy,
      id: `env:${spec.id}`,
      provider: spec.id,
      name: `${spec.name} (environment)`,
      authType: "apikey",
      apiKey: Redacted.make(apiKey),
      oauth: null,
      baseUrl: null,
      wires: null,
      defaultModel: null,
      models: [],
      priority: envPriority,
      tier: null,
      maxConcurrent: null,
      headers: null,
      quotas: [],
      isActive: true,
      proxyEnabled: true,
      transport: null,
      source: "env",
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    return [connection]
  })
