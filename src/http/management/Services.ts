/** Services that the management plane works on. */
import type { AuditLog } from "../../auth/AuditLog.ts"
import type { ConnectionRepo } from "../../store/repo/ConnectionRepo.ts"
import type { McpServerRepo } from "../../store/repo/McpServerRepo.ts"
import type { NodeRepo } from "../../store/repo/NodeRepo.ts"
import type { IdGen } from "../../platform/IdGen.ts"
import type { AdminPassword } from "../../auth/AdminPassword.ts"
import type { ApiKeys } from "../../auth/ApiKeys.ts"
import type { Gate } from "../../auth/Gate.ts"
import type { Sessions } from "../../auth/Sessions.ts"
import type { Flags } from "../../flags/Flags.ts"
import type { GatewaySettings } from "../../flags/GatewaySettings.ts"
import type { Backups as BackupManagement } from "../../management/Backups.ts"
import type { CloudMembers } from "../../management/CloudMembers.ts"
import type { CloudSync } from "../../management/CloudSync.ts"
import type { Combos as ComboManagement } from "../../management/Combos.ts"
import type { Connections } from "../../management/Connections.ts"
import type { IssueLimits as IssueLimitManagement } from "../../management/IssueLimits.ts"
import type { IssueReports as IssueReporting } from "../../management/IssueReports.ts"
import type { Keys as KeyManagement } from "../../management/Keys.ts"
import type { Limits as LimitManagement } from "../../management/Limits.ts"
import type { CompressionCombos as CompressionComboManagement } from "../../management/CompressionCombos.ts"
import type { RtkTools } from "../../management/RtkTools.ts"
import type { Guardrails as GuardrailChanges } from "../../management/Guardrails.ts"
import type { CompressionAnalytics } from "../../compression/Analytics.ts"
import type { CompressionPreviews } from "../../management/CompressionPreviews.ts"
import type { MemoryEntries } from "../../management/MemoryEntries.ts"
import type { ModelAliases as AliasManagement } from "../../management/ModelAliases.ts"
import type { ModelCatalog as Catalogs } from "../../management/ModelCatalog.ts"
import type { ProviderModels as ModelManagement } from "../../management/ProviderModels.ts"
import type { Proxies as ProxyManagement } from "../../management/Proxies.ts"
import type { ProviderNodes as NodeManagement } from "../../management/ProviderNodes.ts"
import type { QuotaGroups as GroupManagement } from "../../management/QuotaGroups.ts"
import type { QuotaChecks } from "../../management/QuotaChecks.ts"
import type { Rehearsals } from "../../management/Rehearsals.ts"
import type { RegisteredKeys as RegisteredKeyManagement } from "../../management/RegisteredKeys.ts"
import type { Resilience as ResilienceManagement } from "../../management/Resilience.ts"
import type { SignIns } from "../../management/SignIns.ts"
import type { SettingsChanges } from "../../management/SettingsChanges.ts"
import type { SystemControl } from "../../management/SystemControl.ts"
import type { SystemHealth } from "../../management/SystemHealth.ts"
import type { UsageExport } from "../../management/UsageExport.ts"
import type { UsageHistory as UsageHistories } from "../../management/UsageHistory.ts"
import type { UsageReports } from "../../management/UsageReports.ts"
import type { Evals as Evaluations } from "../../evals/Evals.ts"
import type { Webhooks as WebhookManagement } from "../../management/Webhooks.ts"
import type { AppConfig } from "../../platform/AppConfig.ts"
import type { ProcessFacts } from "../../platform/ProcessFacts.ts"
import type { BodyBudget } from "../../resilience/BodyBudget.ts"
import type { Slices } from "../../resilience/Slices.ts"
import type { Settings } from "../../resilience/Settings.ts"
import type { DecisionLog } from "../../routing/records/DecisionLog.ts"
import type { Explainer } from "../../routing/decide/Explainer.ts"
import type { RoutingSettings } from "../../routing/RoutingSettings.ts"
import type { AgentTasks } from "../../a2a/Tasks.ts"
import type { AcpAgents } from "../../tools/AcpAgents.ts"
import type { ToolSettings } from "../../management/ToolSettings.ts"
import type { Detector } from "../../tools/detection/Detector.ts"
import type { Directory } from "../../mcp/Directory.ts"
import type { Upstreams } from "../../mcp/upstream/Upstreams.ts"
import type { McpAuditRepo } from "../../store/repo/McpAuditRepo.ts"
import type { McpServers as McpServerManagement } from "../../management/McpServers.ts"
import type { Skills } from "../../skills/Skills.ts"
import type { Simulator } from "../../simulation/Simulator.ts"
import type { PerformanceStats } from "../../routing/stats/PerformanceStats.ts"
import type { MeshTools } from "../../tunnels/mesh/MeshTools.ts"
import type { Tunnels } from "../../tunnels/Tunnels.ts"
import type { UsageRetention } from "../../usage/history/UsageRetention.ts"
import type { PriceBook } from "../../usage/PriceBook.ts"
import type { Listener } from "../Listener.ts"
import type { Telemetry } from "../../usage/Telemetry.ts"
import type { CaptureDoor } from "../../capture/CaptureDoor.ts"
import type { BridgeDoor } from "../../bridge/BridgeDoor.ts"
import type { GatewayCapture } from "../../inference/tap/GatewayCapture.ts"
import type { InspectorDoor } from "../../inspector/InspectorDoor.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { InspectorFeed } from "../inspector/InspectorFeed.ts"
import type { LiveFeed } from "../live/LiveFeed.ts"
import type { OpenStreams } from "../OpenStreams.ts"
import type { PluginsDoor } from "../../plugins/PluginsDoor.ts"
import type { PlaygroundDoor } from "../../playground/PlaygroundDoor.ts"
import type { DirectReplay } from "../../bridge/DirectReplay.ts"
import type { Replay } from "../../bridge/Replay.ts"

/** Services that change the configuration and report its state. */
export type UseCases =
  | AliasManagement
  | BackupManagement
  | Catalogs
  | CloudMembers
  | CloudSync
  | ComboManagement
  | Connections
  | Evaluations
  | GroupManagement
  | IssueLimitManagement
  | IssueReporting
  | KeyManagement
  | LimitManagement
  | CompressionComboManagement
  | RtkTools
  | GuardrailChanges
  | CompressionPreviews
  | MemoryEntries
  | ModelManagement
  | NodeManagement
  | ProxyManagement
  | QuotaChecks
  | RegisteredKeyManagement
  | Rehearsals
  | DirectReplay
  | Replay
  | ResilienceManagement
  | SettingsChanges
  | AcpAgents
  | McpServerManagement
  | Detector
  | ToolSettings
  | SignIns
  | Skills
  | SystemControl
  | SystemHealth
  | UsageExport
  | UsageHistories
  | UsageReports
  | WebhookManagement

/** Other services that the plane needs. */
export type PlaneServices =
  | Directory
  | Upstreams
  | McpAuditRepo
  | AgentTasks
  | AdminPassword
  | ApiKeys
  | AuditLog
  | AppConfig
  | BodyBudget
  | Slices
  | CompressionAnalytics
  | ConnectionRepo
  | McpServerRepo
  | NodeRepo
  | DecisionLog
  | Explainer
  | Flags
  | Gate
  | GatewaySettings
  | IdGen
  | Listener
  | PerformanceStats
  | LiveFeed
  | OpenStreams
  | CaptureDoor
  | BridgeDoor
  | GatewayCapture
  | InspectorDoor
  | InspectorFeed
  | PlaygroundDoor
  | PluginsDoor
  | Timers
  | PriceBook
  | ProcessFacts
  | RoutingSettings
  | Sessions
  | Settings
  | Simulator
  | Telemetry
  | Tunnels
  | MeshTools
  | UsageRetention

export type ManagementServices = PlaneServices | UseCases
