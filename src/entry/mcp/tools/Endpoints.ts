/** The tools that are endpoints of the management, by what they are about. */
import type { EndpointTool } from "../EndpointTool.ts"

/** A page that a model can read; it may ask for more. */
const page = { limit: 50 }

const health: ReadonlyArray<EndpointTool> = [
  { name: "get_health", endpoint: "system.health", scopes: ["read:health"], effect: "read" },
  {
    name: "get_provider_metrics",
    endpoint: "telemetry.summary",
    scopes: ["read:health"],
    effect: "read",
    title: "Show how fast and reliable providers are",
    description: "Latencies by provider and by phase, the part of requests that failed, and the memory of the process."
  },
  {
    name: "simulate_route",
    endpoint: "routing.simulate",
    scopes: ["read:health", "read:combos"],
    effect: "read"
  },
  {
    name: "set_resilience_profile",
    endpoint: "resilience.update",
    scopes: ["write:resilience"],
    effect: "write"
  }
]

const combos: ReadonlyArray<EndpointTool> = [
  { name: "list_combos", endpoint: "combos.list", scopes: ["read:combos"], effect: "read", defaults: page },
  {
    name: "switch_combo",
    endpoint: "combos.update",
    scopes: ["write:combos"],
    effect: "write",
    title: "Switch a combo on or off",
    description: "While a combo is off (`isActive` false), requests that name it are refused.",
    only: ["id", "isActive"],
    required: ["isActive"]
  },
  {
    name: "set_routing_strategy",
    endpoint: "combos.update",
    scopes: ["write:combos"],
    effect: "write",
    title: "Set the strategy of a combo",
    description: "Sets how a combo orders its targets. `config` replaces the settings of the strategy as a whole.",
    only: ["id", "strategy", "config"],
    required: ["strategy"]
  }
]

const spending: ReadonlyArray<EndpointTool> = [
  {
    name: "cost_report",
    endpoint: "usageHistory.analytics",
    scopes: ["read:usage"],
    effect: "read",
    title: "Report usage and cost"
  },
  {
    name: "get_session_snapshot",
    endpoint: "telemetry.sessions",
    scopes: ["read:usage"],
    effect: "read"
  },
  { name: "set_budget_guard", endpoint: "limits.setBudget", scopes: ["write:budget"], effect: "write" }
]

const caches: ReadonlyArray<EndpointTool> = [
  { name: "cache_stats", endpoint: "telemetry.caches", scopes: ["read:cache"], effect: "read" },
  { name: "cache_flush", endpoint: "telemetry.clearCaches", scopes: ["write:cache"], effect: "destroy" }
]

const compression: ReadonlyArray<EndpointTool> = [
  { name: "compression_status", endpoint: "compression.settings", scopes: ["read:compression"], effect: "read" },
  {
    name: "list_compression_combos",
    endpoint: "compressionCombos.list",
    scopes: ["read:compression"],
    effect: "read"
  },
  {
    name: "compression_combo_stats",
    endpoint: "compression.analytics",
    scopes: ["read:compression"],
    effect: "read"
  },
  {
    name: "ccr_retrieve",
    endpoint: "rtk.rawOutput",
    scopes: ["read:compression"],
    effect: "read",
    title: "Retrieve what the compression took out"
  },
  {
    name: "compression_configure",
    endpoint: "compression.setSettings",
    scopes: ["write:compression"],
    effect: "write",
    isIdempotent: true
  }
]

const catalogue: ReadonlyArray<EndpointTool> = [
  {
    name: "agent_skills_list",
    endpoint: "agentSkills.list",
    scopes: ["read:catalog"],
    effect: "read",
    title: "List the agent skills"
  },
  {
    name: "agent_skills_coverage",
    endpoint: "agentSkills.coverage",
    scopes: ["read:catalog"],
    effect: "read",
    title: "Show what the agent skills cover"
  }
]

export const endpointTools: ReadonlyArray<EndpointTool> = [
  ...health,
  ...combos,
  ...spending,
  ...caches,
  ...compression,
  ...catalogue
]
