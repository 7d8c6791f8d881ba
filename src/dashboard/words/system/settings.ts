/** Words of the area of settings. */
import { plural } from "../plural.ts"

export const words = {
  title: "Settings",
  hint: "What is in force, who set it and what it would be otherwise. A setting holds at once, without a restart; a variable from the next start.",
  search: "Search settings",
  searchHint: "such as 'cache', 'retention' or 'heartbeat'",
  show: "Show",
  shows: { all: "All", set: "Only what is set", variables: "Variables of the start" },
  found: (value: number): string => plural(value, { one: "1 setting", other: `${value} settings` }),
  variablesFound: (value: number): string => plural(value, { one: "1 variable", other: `${value} variables` }),
  none: "No setting has these words.",
  noneSet: "Everything is as the gateway comes.",
  sources: { db: "set", default: "default", env: "set at the start" },
  by: (who: string): string => `by ${who}`,
  usual: (text: string): string => `default: ${text}`,
  change: "Change",
  reset: "Default",
  resetDone: "Back to the default.",
  readOnly: "only by the API",
  localWhy: "The breaker of local providers is changed by the API or the command line only.",
  general: "General",
  families: {
    routingSettingsUpdate: "Routing",
    resilienceUpdate: "Resilience",
    gatewaySettingsSetIpFilter: "IP filter",
    gatewaySettingsSetThinkingBudget: "Thinking budget",
    gatewaySettingsSetSystemPrompt: "System prompt",
    gatewaySettingsSetRequireLogin: "Login",
    guardrailsSet: "Guardrails",
    compressionSetSettings: "Compression"
  } as Readonly<Record<string, string>>,
  allGroups: "All groups",
  setIn: (value: number): string => plural(value, { one: "1 set", other: `${value} set` }),
  nothing: "nothing",
  secretSet: "set, a secret",
  notSet: "not set",
  restart: "from the next start",
  columns: ["Variable", "Value", "Default", "Source"],
  variablesHint: "They are read once, at the start: change one with `gateway env set <name> <value>`, then restart.",
  command: "settings set"
} as const
