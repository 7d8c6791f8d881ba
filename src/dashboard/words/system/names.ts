/** Names of the areas that hold what is set. */
export const words = {
  settings: "Settings",
  people: "People",
  teams: "Teams",
  flags: "Feature flags",
  guardrails: "Guardrails",
  cache: "Cache",
  compression: "Compression",
  memory: "Memory",
  plugins: "Plugins",
  webhooks: "Webhooks"
} as const
