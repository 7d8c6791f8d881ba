/** Records as callers see them: times as ISO 8601, money as USD, secrets masked. */
import * as Redacted from "effect/Redacted"
import type { BackupView } from "../../subjects/backups/routes.ts"
import type { AutoComboView, ComboView } from "../../subjects/combos/routes.ts"
import type { KeyView } from "../../subjects/keys/routes.ts"
import type { NodeView } from "../../subjects/nodes/routes.ts"
import type { ConnectionView } from "../../subjects/connections/routes.ts"
import type { QuotaGroupView } from "../../subjects/quotaGroups/routes.ts"
import type { RowFacts } from "../../subjects/usage/RowFacts.ts"
import type { OwnUsageLog, UsageLog } from "../../subjects/usage/routes.ts"
import type { CreatedKey } from "../../subjects/auth/ApiKeys.ts"
import type { ApiKey } from "../../subjects/keys/entity.ts"
import type { Combo } from "../../subjects/combos/entity.ts"
import type { ConnectionHealth } from "../../subjects/connections/entity.ts"
import type { ProviderNode } from "../../subjects/nodes/entity.ts"
import { tagsOf } from "../../contract/domain/Tags.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import type { Transport } from "../../contract/domain/Transport.ts"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import { maskHeaders, maskSecret } from "../../kernel/text/Masking.ts"
import type { AutoCombo } from "../../subjects/combos/AutoCombos.ts"
import type { ObservedConnection } from "../../subjects/connections/ObservedState.ts"
import type { ObservedGroup } from "../../subjects/quotaGroups/service.ts"
import { healthAt } from "../../subjects/connections/Standings.ts"
import type { BackupFile } from "../../store/Backup.ts"

export const iso = (epochMs: number): string => new Date(epochMs).toISOString()
export const isoOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : iso(epochMs))

export const usd = (nanoUsd: number): number => nanoUsd / nanoUsdPerUsd

/** Shares come from divisions; their last digits say nothing. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6

const times = (record: { readonly createdAtMs: number; readonly updatedAtMs: number }) => ({
  createdAt: iso(record.createdAtMs),
  updatedAt: iso(record.updatedAtMs)
})

/** Health as the contract names its fields. */
export const healthView = (health: ConnectionHealth) => ({
  testStatus: health.testStatus,
  rateLimitedUntil: isoOrNull(health.rateLimitedUntilMs),
  lastError: health.lastError,
  lastErrorType: health.lastErrorType,
  errorCode: health.errorCode,
  backoffLevel: health.backoffLevel
})

const transportView = (transport: Transport | null) =>
  transport === null
    ? null
    : { ...transport, key: transport.key === null ? null : maskSecret(Redacted.value(transport.key)) }

export const connectionView = (
  { connection, health, modelList, proxyId }: ObservedConnection,
  nowMs: number,
  showKey: (key: string) => string = maskSecret
): ConnectionView => ({
  id: connection.id,
  provider: connection.provider,
  name: connection.name,
  authType: connection.authType,
  isActive: connection.isActive,
  proxyEnabled: connection.proxyEnabled,
  proxyId,
  transport: transportView(connection.transport),
  priority: connection.priority,
  baseUrl: connection.baseUrl,
  wires: connection.wires,
  defaultModel: connection.defaultModel,
  models: connection.models,
  tier: connection.tier,
  maxConcurrent: connection.maxConcurrent,
  max_concurrent: connection.maxConcurrent,
  headers: maskHeaders(connection.headers),
  quotas: connection.quotas,
  ...healthView(healthAt(health, nowMs)),
  signIn:
    connection.oauth === null
      ? null
      : { expiresAt: isoOrNull(connection.oauth.expiresAtMs), isRenewed: connection.oauth.refreshToken !== null },
  apiKey: connection.apiKey === null ? null : showKey(Redacted.value(connection.apiKey)),
  source: connection.source,
  modelList:
    modelList === null
      ? null
      : { count: modelList.models.length, learnedAt: isoOrNull(modelList.learnedAtMs), error: modelList.problem },
  ...times(connection)
})

export const nodeView = (node: ProviderNode): NodeView => ({
  id: node.id,
  name: node.name,
  prefix: node.prefix,
  type: node.type,
  baseUrl: node.baseUrl,
  wires: node.wires,
  headers: maskHeaders(node.headers),
  chatPath: node.chatPath,
  modelsPath: node.modelsPath,
  mediaPaths: node.mediaPaths,
  ...times(node)
})

export const comboView = (combo: Combo): ComboView => ({
  id: combo.id,
  name: combo.name,
  strategy: combo.strategy,
  targets: combo.targets,
  config: combo.config,
  isActive: combo.isActive,
  ...times(combo)
})

/** Limits of a model under the names of this API and of other gateways. */
const limitsView = (limits: AutoCombo["limits"]) => ({
  contextLength: limits.contextLength,
  maxOutputTokens: limits.maxOutputTokens,
  context_length: limits.contextLength,
  max_output_tokens: limits.maxOutputTokens
})

export const candidateView = ({
  account,
  facts,
  model
}: AutoCombo["pool"][number]): AutoComboView["candidatePool"][number] => ({
  provider: account.spec.id,
  connectionId: account.connection.id,
  model,
  ...limitsView(facts)
})

export const autoComboView = ({ limits, pool, spec }: AutoCombo): AutoComboView => ({
  id: spec.id,
  name: spec.id,
  variant: spec.id === "auto" ? "lkgp" : spec.id.slice("auto/".length),
  type: "auto",
  isHidden: false,
  candidatePool: pool.map(candidateView),
  candidateCount: pool.length,
  ...limitsView(limits),
  config: {
    routerStrategy: spec.routerStrategy,
    modePack: spec.pack,
    explorationRate: spec.explorationRate
  }
})

export const quotaGroupView = ({ group, standings }: ObservedGroup): QuotaGroupView => {
  const { allocations, id, members, name, restricted, ...record } = group
  const quotas = new Map<string, Array<QuotaGroupView["allocations"][number]["quotas"][number]>>()
  for (const { apiKeyId, limit, resetAtMs, used, ...where } of standings) {
    const quota = { ...where, used: rounded(used), limit: rounded(limit), resetAt: isoOrNull(resetAtMs) }
    const others = quotas.get(apiKeyId)
    if (others === undefined) quotas.set(apiKeyId, [quota])
    else others.push(quota)
  }
  return {
    id,
    name,
    members,
    allocations: allocations.map(({ apiKeyId, weight }) => ({
      apiKeyId,
      weight,
      quotas: quotas.get(apiKeyId) ?? []
    })),
    restricted,
    ...times(record)
  }
}

export const keyView = (key: ApiKey): KeyView => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: key.scopes,
  allowedModels: key.allowedModels,
  blockedModels: key.blockedModels,
  allowedEndpoints: key.allowedEndpoints,
  allowedCombos: key.allowedCombos,
  allowedProviders: key.allowedProviders,
  allowedConnections: key.allowedConnections,
  ipAllowlist: key.ipAllowlist,
  expiresAt: isoOrNull(key.expiresAtMs),
  rateLimits: key.rateLimits,
  maxRequestsPerDay: key.maxRequestsPerDay,
  maxRequestsPerMinute: key.maxRequestsPerMinute,
  maxSessions: key.maxSessions,
  accessSchedule: key.accessSchedule,
  noLog: key.noLog,
  isActive: key.isActive,
  userId: key.userId,
  teamId: key.teamId,
  createdAt: iso(key.createdAtMs),
  lastUsedAt: isoOrNull(key.lastUsedAtMs)
})

/** The secret in clear text: it is shown this once. */
export const createdKeyView = ({ key, secret }: CreatedKey) => ({ key: keyView(key), secret: Redacted.value(secret) })

export const usageLog = (
  {
    answeredFrom,
    calls: _calls,
    costNanoUsd,
    costNotes,
    price: _price,
    reservedNanoUsd: _reserved,
    timestampMs,
    ...row
  }: UsageRow,
  facts: RowFacts
): UsageLog => ({
  ...row,
  ...facts,
  tags: tagsOf(row.tags),
  timestamp: iso(timestampMs),
  principal: row.principal ?? (row.apiKeyId === null ? "anonymous" : "key"),
  costUsd: costNanoUsd / nanoUsdPerUsd,
  costSource: (costNotes?.computedNanoUsd ?? null) === null ? "computed" : "upstream",
  computedCostUsd: (costNotes?.computedNanoUsd ?? costNanoUsd) / nanoUsdPerUsd,
  unpricedParts: costNotes?.unpricedParts ?? [],
  costFacts: costNotes?.facts ?? null,
  cacheHit: answeredFrom === "cache",
  coalesced: answeredFrom === "coalesced"
})

const hidden: RowFacts = { apiKeyName: null, connectionName: null, hasDecision: false, captureId: null }

/** A row as its key sees it; the type of the answer refuses members that were added to rows since. */
export const ownUsageLog = (row: UsageRow): OwnUsageLog => {
  const {
    apiKeyId: _key,
    apiKeyName: _keyName,
    captureId: _capture,
    connectionId: _connection,
    connectionName: _connectionName,
    egress: _egress,
    error: _error,
    hasDecision: _decision,
    node: _node,
    principal: _principal,
    ...own
  } = usageLog(row, hidden)
  return own
}

export const backupView = ({ createdAtMs, id, reason, schemaVersion, sizeBytes }: BackupFile): BackupView => ({
  id,
  createdAt: new Date(createdAtMs).toISOString(),
  sizeBytes,
  reason,
  schemaVersion
})
