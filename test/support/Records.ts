/** Domain records for tests: complete, with what a test cares about given. */
import * as Redacted from "effect/Redacted"
import type { Combo } from "../../src/subjects/combos/entity.ts"
import { type Connection, healthy } from "../../src/subjects/connections/entity.ts"
import type { ProviderNode } from "../../src/subjects/nodes/entity.ts"

export const connection = (
  given: Partial<Connection> & { readonly id: string; readonly provider: string }
): Connection => ({
  ...healthy,
  name: given.id,
  authType: "apikey",
  apiKey: Redacted.make("sk-test-0123456789"),
  oauth: null,
  baseUrl: null,
  wires: null,
  defaultModel: null,
  models: [],
  priority: 0,
  tier: null,
  maxConcurrent: null,
  headers: null,
  quotas: [],
  isActive: true,
  proxyEnabled: true,
  transport: null,
  source: "db",
  createdAtMs: 0,
  updatedAtMs: 0,
  ...given
})

export const node = (given: Partial<ProviderNode> & { readonly prefix: string }): ProviderNode => ({
  id: `node-${given.prefix}`,
  name: given.prefix,
  type: "openai-compatible",
  baseUrl: "http://127.0.0.1:9/v1",
  wires: null,
  headers: null,
  chatPath: null,
  modelsPath: null,
  mediaPaths: null,
  createdAtMs: 0,
  updatedAtMs: 0,
  ...given
})

export const combo = (given: Partial<Combo> & { readonly name: string }): Combo => ({
  id: `combo-${given.name}`,
  strategy: "priority",
  targets: [],
  config: {},
  isActive: true,
  createdAtMs: 0,
  updatedAtMs: 0,
  ...given
})
