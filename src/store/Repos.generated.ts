/** All repositories at once, for the composition root and for tests. Written by `bin/subjects.mjs`: do not edit. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Layer from "effect/Layer"
import * as AliasRepo from "../subjects/aliases/repo.ts"
import * as SessionRepo from "../subjects/auth/repo.ts"
import * as BatchRepo from "../subjects/batches/repo.ts"
import * as ReportRepo from "../subjects/bills/ReportRepo.ts"
import * as BillRepo from "../subjects/bills/repo.ts"
import * as AnswerCacheRepo from "../subjects/cache/repo.ts"
import * as ComboRepo from "../subjects/combos/repo.ts"
import * as CompressionCountsRepo from "../subjects/compression/CompressionCountsRepo.ts"
import * as RawOutputRepo from "../subjects/compression/repo.ts"
import * as ConnectionRepo from "../subjects/connections/repo.ts"
import * as EvalRepo from "../subjects/evals/repo.ts"
import * as FileRepo from "../subjects/files/repo.ts"
import * as IssueTrackerRepo from "../subjects/issueReports/repo.ts"
import * as IssuerRepo from "../subjects/issuers/repo.ts"
import * as KeyOwnerRepo from "../subjects/keys/KeyOwnerRepo.ts"
import * as ApiKeyRepo from "../subjects/keys/repo.ts"
import * as LimitRepo from "../subjects/limits/repo.ts"
import * as LoginRepo from "../subjects/logins/repo.ts"
import * as McpAuditRepo from "../subjects/mcp/repo.ts"
import * as McpServerRepo from "../subjects/mcpServers/repo.ts"
import * as MediaJobRepo from "../subjects/mediaJobs/repo.ts"
import * as MemoryBlockRepo from "../subjects/memory/MemoryBlockRepo.ts"
import * as MemoryVectorRepo from "../subjects/memory/MemoryVectorRepo.ts"
import * as MemoryRepo from "../subjects/memory/repo.ts"
import * as ModelListRepo from "../subjects/models/ModelListRepo.ts"
import * as ProviderModelRepo from "../subjects/models/repo.ts"
import * as NodeRepo from "../subjects/nodes/repo.ts"
import * as ProxyRepo from "../subjects/proxies/repo.ts"
import * as QuotaRepo from "../subjects/quotaGroups/QuotaRepo.ts"
import * as QuotaUseRepo from "../subjects/quotaGroups/QuotaUseRepo.ts"
import * as QuotaGroupRepo from "../subjects/quotaGroups/repo.ts"
import * as RegisteredKeyRepo from "../subjects/registeredKeys/repo.ts"
import * as BreakerRepo from "../subjects/resilience/repo.ts"
import * as RouterMemoryRepo from "../subjects/routing/RouterMemoryRepo.ts"
import * as DecisionRepo from "../subjects/routing/repo.ts"
import * as SettingsRepo from "../subjects/settings/repo.ts"
import * as CloudSyncRepo from "../subjects/sync/repo.ts"
import * as EnvHealthRepo from "../subjects/system/repo.ts"
import * as ContentRepo from "../subjects/teams/ContentRepo.ts"
import * as TeamRepo from "../subjects/teams/repo.ts"
import * as TunnelRepo from "../subjects/tunnels/repo.ts"
import * as LedgerRepo from "../subjects/usage/LedgerRepo.ts"
import * as SearchCountsRepo from "../subjects/usage/SearchCountsRepo.ts"
import * as SpendRepo from "../subjects/usage/SpendRepo.ts"
import * as UsageSumsRepo from "../subjects/usage/UsageSumsRepo.ts"
import * as UsageRepo from "../subjects/usage/repo.ts"
import * as ErasureRepo from "../subjects/users/ErasureRepo.ts"
import * as UserRepo from "../subjects/users/repo.ts"
import * as OutboxRepo from "../subjects/webhooks/OutboxRepo.ts"
import * as WebhookRepo from "../subjects/webhooks/repo.ts"
import type { Secrets } from "./secrets/Secrets.ts"

export type Repos =
  | AliasRepo.AliasRepo
  | SessionRepo.SessionRepo
  | BatchRepo.BatchRepo
  | ReportRepo.ReportRepo
  | BillRepo.BillRepo
  | AnswerCacheRepo.AnswerCacheRepo
  | ComboRepo.ComboRepo
  | CompressionCountsRepo.CompressionCountsRepo
  | RawOutputRepo.RawOutputRepo
  | ConnectionRepo.ConnectionRepo
  | EvalRepo.EvalRepo
  | FileRepo.FileRepo
  | IssueTrackerRepo.IssueTrackerRepo
  | IssuerRepo.IssuerRepo
  | KeyOwnerRepo.KeyOwnerRepo
  | ApiKeyRepo.ApiKeyRepo
  | LimitRepo.LimitRepo
  | LoginRepo.LoginRepo
  | McpAuditRepo.McpAuditRepo
  | McpServerRepo.McpServerRepo
  | MediaJobRepo.MediaJobRepo
  | MemoryBlockRepo.MemoryBlockRepo
  | MemoryVectorRepo.MemoryVectorRepo
  | MemoryRepo.MemoryRepo
  | ModelListRepo.ModelListRepo
  | ProviderModelRepo.ProviderModelRepo
  | NodeRepo.NodeRepo
  | ProxyRepo.ProxyRepo
  | QuotaRepo.QuotaRepo
  | QuotaUseRepo.QuotaUseRepo
  | QuotaGroupRepo.QuotaGroupRepo
  | RegisteredKeyRepo.RegisteredKeyRepo
  | BreakerRepo.BreakerRepo
  | RouterMemoryRepo.RouterMemoryRepo
  | DecisionRepo.DecisionRepo
  | SettingsRepo.SettingsRepo
  | CloudSyncRepo.CloudSyncRepo
  | EnvHealthRepo.EnvHealthRepo
  | ContentRepo.ContentRepo
  | TeamRepo.TeamRepo
  | TunnelRepo.TunnelRepo
  | LedgerRepo.LedgerRepo
  | SearchCountsRepo.SearchCountsRepo
  | SpendRepo.SpendRepo
  | UsageSumsRepo.UsageSumsRepo
  | UsageRepo.UsageRepo
  | ErasureRepo.ErasureRepo
  | UserRepo.UserRepo
  | OutboxRepo.OutboxRepo
  | WebhookRepo.WebhookRepo

export const layer: Layer.Layer<Repos, never, SqlClient.SqlClient | Secrets> = Layer.mergeAll(
  AliasRepo.layer,
  SessionRepo.layer,
  BatchRepo.layer,
  ReportRepo.layer,
  BillRepo.layer,
  AnswerCacheRepo.layer,
  ComboRepo.layer,
  CompressionCountsRepo.layer,
  RawOutputRepo.layer,
  ConnectionRepo.layer,
  EvalRepo.layer,
  FileRepo.layer,
  IssueTrackerRepo.layer,
  IssuerRepo.layer,
  KeyOwnerRepo.layer,
  ApiKeyRepo.layer,
  LimitRepo.layer,
  LoginRepo.layer,
  McpAuditRepo.layer,
  McpServerRepo.layer,
  MediaJobRepo.layer,
  MemoryBlockRepo.layer,
  MemoryVectorRepo.layer,
  MemoryRepo.layer,
  ModelListRepo.layer,
  ProviderModelRepo.layer,
  NodeRepo.layer,
  ProxyRepo.layer,
  QuotaRepo.layer,
  QuotaUseRepo.layer,
  QuotaGroupRepo.layer,
  RegisteredKeyRepo.layer,
  BreakerRepo.layer,
  RouterMemoryRepo.layer,
  DecisionRepo.layer,
  SettingsRepo.layer,
  CloudSyncRepo.layer,
  EnvHealthRepo.layer,
  ContentRepo.layer,
  TeamRepo.layer,
  TunnelRepo.layer,
  LedgerRepo.layer,
  SearchCountsRepo.layer,
  SpendRepo.layer,
  UsageSumsRepo.layer,
  UsageRepo.layer,
  ErasureRepo.layer,
  UserRepo.layer,
  OutboxRepo.layer,
  WebhookRepo.layer
)
