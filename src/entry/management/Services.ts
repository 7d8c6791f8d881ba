/** Services that the management plane works on. */
import type { AuditLog } from "../../subjects/auth/AuditLog.ts"
import type { ConnectionRepo } from "../../subjects/connections/repo.ts"
import type { McpServerRepo } from "../../subjects/mcpServers/repo.ts"
import type { NodeRepo } from "../../subjects/nodes/repo.ts"
import type { IdGen } from "../../platform/IdGen.ts"
import type { AdminPassword } from "../../subjects/auth/AdminPassword.ts"
import type { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import type { Gate } from "../../subjects/auth/Gate.ts"
import type { ContentRepo } from "../../subjects/teams/ContentRepo.ts"
import type { ErasureRepo } from "../../subjects/users/ErasureRepo.ts"
import type { MemoryRepo } from "../../subjects/memory/repo.ts"
import type { People } from "../../subjects/people/People.ts"
import type { Sessions } from "../../subjects/auth/sessions/Sessions.ts"
import type { Flags } from "../../subjects/flags/service.ts"
import type { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import type { CompressionAnalytics } from "../../plane/compression/Analytics.ts"
import type { Attention } from "../../subjects/attention/Attention.ts"
import type { QuotaChecks } from "../../subjects/registeredKeys/QuotaChecks.ts"
import type { Rehearsals } from "../../subjects/configuration/Rehearsals.ts"
import type { SystemHealth } from "../../subjects/system/SystemHealth.ts"
import type { UsageExport } from "../../subjects/usage/UsageExport.ts"
import type { UsageSeries } from "../../subjects/usage/UsageSeries.ts"
import type { AppConfig } from "../../platform/AppConfig.ts"
import type { ProcessFacts } from "../../platform/ProcessFacts.ts"
import type { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import type { Slices } from "../../plane/resilience/Slices.ts"
import type { Settings } from "../../plane/resilience/Settings.ts"
import type { DecisionLog } from "../../plane/routing/records/DecisionLog.ts"
import type { Explainer } from "../../plane/routing/decide/Explainer.ts"
import type { RoutingSettings } from "../../plane/routing/RoutingSettings.ts"
import type { AgentTasks } from "../../agents/a2a/Tasks.ts"
import type { AcpAgents } from "../../agents/tools/AcpAgents.ts"
import type { Detector } from "../../agents/tools/detection/Detector.ts"
import type { Directory } from "../../agents/mcp/Directory.ts"
import type { Upstreams } from "../../agents/mcp/upstream/Upstreams.ts"
import type { McpAuditRepo } from "../../subjects/mcp/repo.ts"
import type { Skills } from "../../agents/skills/Skills.ts"
import type { Simulator } from "../../observe/simulation/Simulator.ts"
import type { PerformanceStats } from "../../plane/routing/stats/PerformanceStats.ts"
import type { MeshTools } from "../../net/tunnels/mesh/MeshTools.ts"
import type { Tunnels } from "../../net/tunnels/Tunnels.ts"
import type { UsageRetention } from "../../observe/usage/UsageRetention.ts"
import type { PriceBook } from "../../observe/usage/PriceBook.ts"
import type { Listener } from "../listening/Listener.ts"
import type { SubjectServices } from "./SubjectServices.generated.ts"
import type { Telemetry } from "../../observe/usage/Telemetry.ts"
import type { LazyCapture } from "../../observe/capture/LazyCapture.ts"
import type { LazyBridge } from "../../agents/bridge/LazyBridge.ts"
import type { GatewayCapture } from "../../plane/tap/GatewayCapture.ts"
import type { LazyInspector } from "../../observe/inspector/LazyInspector.ts"
import type { RunningRequests } from "../../plane/request/RunningRequests.ts"
import type { Events } from "../../observe/Events.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { InspectorFeed } from "../live/InspectorFeed.ts"
import type { LiveFeed } from "../live/LiveFeed.ts"
import type { OpenStreams } from "../listening/OpenStreams.ts"
import type { LazyPlugins } from "../../agents/plugins/LazyPlugins.ts"
import type { LazyPlayground } from "../../agents/playground/LazyPlayground.ts"
import type { DirectReplay } from "../../agents/bridge/DirectReplay.ts"
import type { Replay } from "../../agents/bridge/Replay.ts"

/** Services that change the configuration and report its state. */
export type UseCases =
  | SubjectServices
  | Attention
  | QuotaChecks
  | Rehearsals
  | DirectReplay
  | Replay
  | AcpAgents
  | Detector
  | Skills
  | SystemHealth
  | UsageExport
  | UsageSeries

/** Other services that the plane needs. */
export type PlaneServices =
  | Directory
  | Upstreams
  | McpAuditRepo
  | AgentTasks
  | AdminPassword
  | ApiKeys
  | People
  | AuditLog
  | AppConfig
  | BodyBudget
  | Slices
  | CompressionAnalytics
  | ConnectionRepo
  | ContentRepo
  | ErasureRepo
  | MemoryRepo
  | McpServerRepo
  | NodeRepo
  | DecisionLog
  | Events
  | Explainer
  | Flags
  | Gate
  | GatewaySettings
  | IdGen
  | Listener
  | PerformanceStats
  | LiveFeed
  | OpenStreams
  | LazyCapture
  | LazyBridge
  | GatewayCapture
  | LazyInspector
  | InspectorFeed
  | LazyPlayground
  | LazyPlugins
  | Timers
  | PriceBook
  | ProcessFacts
  | RoutingSettings
  | RunningRequests
  | Sessions
  | Settings
  | Simulator
  | Telemetry
  | Tunnels
  | MeshTools
  | UsageRetention

export type ManagementServices = PlaneServices | UseCases
