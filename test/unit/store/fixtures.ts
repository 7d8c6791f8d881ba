import { FileSystem } from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { ApiKey } from "../../../src/subjects/keys/entity.ts"
import type { Combo } from "../../../src/subjects/combos/entity.ts"
import type { Connection } from "../../../src/subjects/connections/entity.ts"
import type { ProviderNode } from "../../../src/subjects/nodes/entity.ts"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as DataLock from "../../../src/store/DataLock.ts"
import * as Repos from "../../../src/store/Repos.generated.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import * as Sql from "../../../src/store/Sql.ts"

/** A folder that goes when the scope closes. */
export const temporaryFolder = Effect.flatMap(FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeFileSystem.layer)
)

/** The store on disk as `serve` opens it, without repositories. */
export const onDisk = (dataDir: string, encryptionKey: string | null = "a master key") =>
  Sql.layer.pipe(
    Layer.provideMerge(DataLock.layer),
    Layer.provideMerge(
      AppConfig.layerOf({ dataDir, encryptionKey: encryptionKey === null ? null : Redacted.make(encryptionKey) })
    )
  )

/** Makes the table refuse rows as a broken database would, until the trigger is dropped. */
export const refuseRows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TRIGGER refusal BEFORE INSERT ON usage_log BEGIN SELECT RAISE(ABORT, 'refused'); END`
)

/** Repositories over an empty database in memory. */
export const reposInMemory = Repos.layer.pipe(Layer.provideMerge(Layer.merge(Sql.layerMemory, Secrets.layerTest)))

export const connection: Connection = {
  id: "c1",
  provider: "openai",
  name: "main account",
  authType: "oauth",
  apiKey: Redacted.make("sk-live-ключ-1"),
  oauth: {
    accessToken: Redacted.make("access"),
    refreshToken: Redacted.make("refresh"),
    expiresAtMs: 1_700_000_000_000,
    clientId: "client",
    clientSecret: Redacted.make("client secret"),
    tokenUrl: "https://auth.example/token"
  },
  baseUrl: "https://api.example/v1",
  wires: ["chat", "responses"],
  defaultModel: "m-1",
  models: ["m-1", "m-2"],
  priority: 3,
  tier: "pro",
  maxConcurrent: 4,
  headers: { "x-team": Redacted.make("blue"), "x-secret": Redacted.make("s3cret") },
  quotas: [{ window: "daily", unit: "usd", limit: 2.5, resetAt: null }],
  isActive: true,
  proxyEnabled: true,
  transport: null,
  testStatus: "unavailable",
  rateLimitedUntilMs: 1_700_000_060_000,
  lastError: "too many requests",
  lastErrorType: "rate_limit",
  errorCode: "429",
  backoffLevel: 2,
  source: "db",
  createdAtMs: 1_000,
  updatedAtMs: 2_000
}

export const bareConnection: Connection = {
  ...connection,
  id: "c2",
  authType: "none",
  apiKey: null,
  oauth: null,
  baseUrl: null,
  wires: null,
  defaultModel: null,
  models: [],
  tier: null,
  maxConcurrent: null,
  headers: null,
  quotas: [],
  isActive: false,
  testStatus: "unknown",
  rateLimitedUntilMs: null,
  lastError: null,
  lastErrorType: null,
  errorCode: null,
  backoffLevel: 0,
  createdAtMs: 1_500
}

export const node: ProviderNode = {
  id: "n1",
  name: "lab",
  prefix: "lab",
  type: "openai-compatible",
  baseUrl: "http://10.0.0.5:8000/v1",
  wires: ["chat"],
  headers: { "x-lab": Redacted.make("token") },
  chatPath: "/chat",
  modelsPath: null,
  mediaPaths: null,
  createdAtMs: 10,
  updatedAtMs: 20
}

export const combo: Combo = {
  id: "k1",
  name: "fast",
  strategy: "priority",
  targets: [{ model: "openai/m-1", weight: 2, connectionId: null, label: "first" }, { model: "combo:slow" }],
  config: { maxRetries: 1, nested: { on: true } },
  isActive: true,
  createdAtMs: 10,
  updatedAtMs: 20
}

export const apiKey: ApiKey = {
  id: "a1",
  name: "laptop",
  scopes: ["manage"],
  allowedModels: ["openai/*"],
  expiresAtMs: 5_000,
  rateLimits: [{ limit: 10, window: 60 }],
  blockedModels: ["*preview*"],
  allowedEndpoints: ["chat", "web-fetch"],
  allowedCombos: ["fast"],
  allowedProviders: ["openai"],
  allowedConnections: ["c1"],
  ipAllowlist: ["192.0.2.0/24"],
  maxRequestsPerDay: 1_000,
  maxRequestsPerMinute: null,
  maxSessions: 4,
  accessSchedule: { enabled: true, from: "22:00", until: "06:00", days: [1, 5], tz: "Europe/Zurich" },
  noLog: true,
  userId: null,
  teamId: null,
  ownedSinceMs: null,
  isActive: true,
  prefix: "gw_abcde",
  hash: "f".repeat(64),
  oldSecrets: [{ hash: "e".repeat(64), untilMs: 9_000 }],
  createdAtMs: 1,
  lastUsedAtMs: null
}

/** A row whose id sorts by `n`. */
export const usageRow = (n: number, more: Partial<UsageRow> = {}): UsageRow => ({
  id: `row-${String(n).padStart(8, "0")}`,
  timestampMs: 1_000 + n,
  requestId: `request-${n}`,
  apiKeyId: "a1",
  requestedModel: "fast",
  combo: "fast",
  provider: "openai",
  connectionId: "c1",
  model: "m-1",
  sourceWire: "chat",
  targetWire: "messages",
  streamed: true,
  outcome: "completed",
  status: 200,
  latencyMs: 120,
  ttftMs: 40,
  attempts: 2,
  tokens: { in: 100, out: 20, cacheRead: 50, cacheWrite: 5, reasoning: 7 },
  told: null,
  costNotes: null,
  principal: null,
  costNanoUsd: 123_456_789,
  priced: true,
  price: null,
  usageSource: "upstream",
  reservedNanoUsd: 0,
  calls: null,
  error: null,
  batchId: null,
  answeredFrom: null,
  egress: null,
  tags: null,
  sessionId: null,
  ...more
})
