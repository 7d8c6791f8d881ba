/** All repositories at once, for the composition root and for tests. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Layer from "effect/Layer"
import * as AliasRepo from "./repo/AliasRepo.ts"
import * as ApiKeyRepo from "./repo/ApiKeyRepo.ts"
import * as BatchRepo from "./repo/BatchRepo.ts"
import * as BreakerRepo from "./repo/BreakerRepo.ts"
import * as CloudSyncRepo from "./repo/CloudSyncRepo.ts"
import * as ComboRepo from "./repo/ComboRepo.ts"
import * as ConnectionRepo from "./repo/ConnectionRepo.ts"
import * as DecisionRepo from "./repo/DecisionRepo.ts"
import * as EnvHealthRepo from "./repo/EnvHealthRepo.ts"
import * as EvalRepo from "./repo/EvalRepo.ts"
import * as FileRepo from "./repo/FileRepo.ts"
import * as IssueTrackerRepo from "./repo/IssueTrackerRepo.ts"
import * as LedgerRepo from "./repo/LedgerRepo.ts"
import * as LimitRepo from "./repo/LimitRepo.ts"
import * as MediaJobRepo from "./repo/MediaJobRepo.ts"
import * as AnswerCacheRepo from "./repo/AnswerCacheRepo.ts"
import * as CompressionCountsRepo from "./repo/CompressionCountsRepo.ts"
import * as MemoryBlockRepo from "./repo/MemoryBlockRepo.ts"
import * as MemoryRepo from "./repo/MemoryRepo.ts"
import * as McpAuditRepo from "./repo/McpAuditRepo.ts"
import * as McpServerRepo from "./repo/McpServerRepo.ts"
import * as MemoryVectorRepo from "./repo/MemoryVectorRepo.ts"
import * as ModelListRepo from "./repo/ModelListRepo.ts"
import * as NodeRepo from "./repo/NodeRepo.ts"
import * as OutboxRepo from "./repo/OutboxRepo.ts"
import * as ProviderModelRepo from "./repo/ProviderModelRepo.ts"
import * as ProxyRepo from "./repo/ProxyRepo.ts"
import * as QuotaRepo from "./repo/QuotaRepo.ts"
import * as QuotaUseRepo from "./repo/QuotaUseRepo.ts"
import * as RawOutputRepo from "./repo/RawOutputRepo.ts"
import * as RegisteredKeyRepo from "./repo/RegisteredKeyRepo.ts"
import * as RouterMemoryRepo from "./repo/RouterMemoryRepo.ts"
import * as QuotaGroupRepo from "./repo/QuotaGroupRepo.ts"
import * as SearchCountsRepo from "./repo/SearchCountsRepo.ts"
import * as SessionRepo from "./repo/SessionRepo.ts"
import * as SettingsRepo from "./repo/SettingsRepo.ts"
import * as SpendRepo from "./repo/SpendRepo.ts"
import * as TunnelRepo from "./repo/TunnelRepo.ts"
import * as UsageRepo from "./repo/UsageRepo.ts"
import * as UsageSumsRepo from "./repo/UsageSumsRepo.ts"
import * as WebhookRepo from "./repo/WebhookRepo.ts"
import type { Secrets } from "./Secrets.ts"

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
