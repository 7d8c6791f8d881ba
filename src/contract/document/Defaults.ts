/**
 * Defaults, which are in force where nothing is said: for a new object by the name of its body, for settings by the name of their answer. Bodies of changes
 * have none, because what is absent there stays as it is. A test makes one of each with what is required only, and compares.
 */
import { defaultCavemanSettings } from "../../subjects/compression/entity/CompressionProfiles.ts"
import { defaultCompressionSettings } from "../../subjects/compression/entity.ts"
import { defaultGuardrailSettings } from "../../subjects/guardrails/entity.ts"
import { defaultResilience } from "../../subjects/resilience/entity.ts"
import { defaultRouting } from "../../subjects/routingSettings/entity.ts"
import { defaultRtkSettings } from "../../subjects/rtk/entity.ts"
import {
  defaultIpFilter,
  defaultRequireLogin,
  defaultSystemPrompt,
  defaultThinkingBudget
} from "../../subjects/settings/entity/AccessSettings.ts"
import { defaultMemorySettings } from "../../subjects/settings/entity/MemorySettings.ts"
import { defaultGatewaySettings } from "../../subjects/settings/entity.ts"

/** Defaults of the fields of new objects. */
export const newObjects = {
  CreateCombo: { strategy: "priority", config: {}, isActive: true },
  CreateApiKey: {
    scopes: ["self:usage"],
    allowedModels: null,
    blockedModels: [],
    allowedEndpoints: [],
    allowedCombos: [],
    allowedProviders: [],
    allowedConnections: [],
    ipAllowlist: [],
    expiresAt: null,
    rateLimits: [],
    maxRequestsPerDay: null,
    maxRequestsPerMinute: null,
    maxSessions: null,
    accessSchedule: null,
    noLog: false,
    isActive: true
  },
  CreateConnection: {
    models: [],
    priority: 1,
    isActive: true,
    proxyEnabled: true,
    quotas: [],
    baseUrl: null,
    wires: null,
    defaultModel: null,
    tier: null,
    maxConcurrent: null,
    headers: null,
    proxyId: null,
    transport: null
  },
  CreateProviderNode: { wires: null, headers: null, chatPath: null, modelsPath: null, mediaPaths: null },
  CreateWebhook: { kind: "custom", events: ["*"] },
  CreateQuotaGroup: { allocations: [] },
  CreateCompressionCombo: { isActive: false },
  CreateMcpServer: { enabled: true, timeoutMs: 30_000, allowedTools: null, allowedKeys: null },
  CreateMemory: { type: "factual" },
  CreateProxy: { family: "auto", isActive: true, username: null },
  CreatePlaygroundPreset: { params_json: "{}" }
} as const

/** Defaults of settings. */
export const settings = {
  Resilience: defaultResilience,
  RoutingSettings: defaultRouting,
  IpFilter: defaultIpFilter,
  ThinkingBudget: defaultThinkingBudget,
  SystemPrompt: defaultSystemPrompt,
  RequireLogin: defaultRequireLogin,
  MemorySettings: defaultMemorySettings,
  AllSettings: defaultGatewaySettings,
  GuardrailSettings: defaultGuardrailSettings,
  CompressionSettings: defaultCompressionSettings,
  CavemanSettings: defaultCavemanSettings,
  RtkSettings: defaultRtkSettings
}
