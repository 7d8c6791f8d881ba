/** All repositories at once, for the composition root and for tests. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Layer from "effect/Layer"
import * as AliasRepo from "../subjects/aliases/repo.ts"
import * as ApiKeyRepo from "../subjects/keys/repo.ts"
import * as BatchRepo from "../subjects/batches/repo.ts"
import * as BreakerRepo from "../subjects/resilience/repo.ts"
import * as CloudSyncRepo from "../subjects/sync/repo.ts"
import * as ComboRepo from "../subjects/combos/repo.ts"
import * as ConnectionRepo from "../subjects/connections/repo.ts"
import * as DecisionRepo from "../subjects/routing/repo.ts"
import * as EnvHealthRepo from "../subjects/system/repo.ts"
import * as EvalRepo from "../subjects/evals/repo.ts"
import * as FileRepo from "../subjects/files/repo.ts"
import * as IssueTrackerRepo from "../subjects/issueReports/repo.ts"
import * as LedgerRepo from "../subjects/usage/LedgerRepo.ts"
import * as LimitRepo from "../subjects/limits/repo.ts"
import * as MediaJobRepo from "../subjects/mediaJobs/repo.ts"
import * as AnswerCacheRepo from "../subjects/cache/repo.ts"
import * as CompressionCountsRepo from "../subjects/compression/CompressionCountsRepo.ts"
import * as MemoryBlockRepo from "../subjects/memory/MemoryBlockRepo.ts"
import * as MemoryRepo from "../subjects/memory/repo.ts"
import * as McpAuditRepo from "../subjects/mcp/repo.ts"
import * as McpServerRepo from "../subjects/mcpServers/repo.ts"
import * as MemoryVectorRepo from "../subjects/memory/MemoryVectorRepo.ts"
import * as ModelListRepo from "../subjects/models/ModelListRepo.ts"
import * as NodeRepo from "../subjects/nodes/repo.ts"
import * as OutboxRepo from "../subjects/webhooks/OutboxRepo.ts"
import * as ProviderModelRepo from "../subjects/models/repo.ts"
import * as ProxyRepo from "../subjects/proxies/repo.ts"
import * as QuotaRepo from "../subjects/quotaGroups/QuotaRepo.ts"
import * as QuotaUseRepo from "../subjects/quotaGroups/QuotaUseRepo.ts"
import * as RawOutputRepo from "../subjects/compression/repo.ts"
import * as RegisteredKeyRepo from "../subjects/registeredKeys/repo.ts"
import * as RouterMemoryRepo from "../subjects/routing/RouterMemoryRepo.ts"
import * as QuotaGroupRepo from "../subjects/quotaGroups/repo.ts"
import * as SearchCountsRepo from "../subjects/usage/SearchCountsRepo.ts"
import * as SessionRepo from "../subjects/auth/repo.ts"
import * as SettingsRepo from "../subjects/settings/repo.ts"
import * as SpendRepo from "../subjects/usage/SpendRepo.ts"
import * as TunnelRepo from "../subjects/tunnels/repo.ts"
import * as UsageRepo from "../subjects/usage/repo.ts"
import * as UsageSumsRepo from "../subjects/usage/UsageSumsRepo.ts"
import * as WebhookRepo from "../subjects/webhooks/repo.ts"
import type { Secrets } from "./secrets/Secrets.ts"

export type Repos =
  | AliasRepo.AliasRepo
  | ApiKeyRepo.ApiKeyRepo
  | BatchRepo.BatchRepo
  | BreakerRepo.BreakerRepo
  | CloudSyncRepo.CloudSyncRepo
  | ComboRepo.ComboRepo
  | ConnectionRepo.ConnectionRepo
  | DecisionRepo.DecisionRepo
  | EnvHealthRepo.EnvHealthRepo
  | EvalRepo.EvalRepo
  | FileRepo.FileRepo
  | IssueTrackerRepo.IssueTrackerRepo
  | LedgerRepo.LedgerRepo
  | LimitRepo.LimitRepo
  | MediaJobRepo.MediaJobRepo
  | AnswerCacheRepo.AnswerCacheRepo
  | CompressionCountsRepo.CompressionCountsRepo
  | MemoryBlockRepo.MemoryBlockRepo
  | MemoryRepo.MemoryRepo
  | McpAuditRepo.McpAuditRepo
  | McpServerRepo.McpServerRepo
  | MemoryVectorRepo.MemoryVectorRepo
  | ModelListRepo.ModelListRepo
  | NodeRepo.NodeRepo
  | OutboxRepo.OutboxRepo
  | ProviderModelRepo.ProviderModelRepo
  | ProxyRepo.ProxyRepo
  | QuotaRepo.QuotaRepo
  | QuotaUseRepo.QuotaUseRepo
  | RawOutputRepo.RawOutputRepo
  | RegisteredKeyRepo.RegisteredKeyRepo
  | RouterMemoryRepo.RouterMemoryRepo
  | QuotaGroupRepo.QuotaGroupRepo
  | SearchCountsRepo.SearchCountsRepo
  | SessionRepo.SessionRepo
  | SettingsRepo.SettingsRepo
  | SpendRepo.SpendRepo
  | TunnelRepo.TunnelRepo
  | UsageRepo.UsageRepo
  | UsageSumsRepo.UsageSumsRepo
  | WebhookRepo.WebhookRepo

export const layer: Layer.Layer<Repos, never, SqlClient.SqlClient | Secrets> = Layer.mergeAll(
  AliasRepo.layer,
  ApiKeyRepo.layer,
  BatchRepo.layer,
  BreakerRepo.layer,
  CloudSyncRepo.layer,
  ComboRepo.layer,
  ConnectionRepo.layer,
  DecisionRepo.layer,
  EnvHealthRepo.layer,
  EvalRepo.layer,
  FileRepo.layer,
  IssueTrackerRepo.layer,
  LedgerRepo.layer,
  LimitRepo.layer,
  MediaJobRepo.layer,
  AnswerCacheRepo.layer,
  CompressionCountsRepo.layer,
  MemoryBlockRepo.layer,
  MemoryRepo.layer,
  McpAuditRepo.layer,
  McpServerRepo.layer,
  MemoryVectorRepo.layer,
  ModelListRepo.layer,
  NodeRepo.layer,
  OutboxRepo.layer,
  ProviderModelRepo.layer,
  ProxyRepo.layer,
  QuotaRepo.layer,
  QuotaUseRepo.layer,
  RawOutputRepo.layer,
  RegisteredKeyRepo.layer,
  RouterMemoryRepo.layer,
  QuotaGroupRepo.layer,
  SearchCountsRepo.layer,
  SessionRepo.layer,
  SettingsRepo.layer,
  SpendRepo.layer,
  TunnelRepo.layer,
  UsageRepo.layer,
  UsageSumsRepo.layer,
  WebhookRepo.layer
)
