/** Words of the page of who holds an API key. */
import { plural } from "./plural.ts"

export const words = {
  title: "Your API key",
  intro:
    "See what an API key of this gateway may do and has used. The key stays in this page: it is gone when you leave or load it anew.",
  key: "API key",
  show: "Show",
  showing: "Asking …",
  leave: "Forget the key",
  admin: "Log in as administrator",
  today: "Today (UTC)",
  month: "This month (UTC)",
  requests: (value: number, shown: string): string => plural(value, { one: "1 request", other: `${shown} requests` }),
  tokens: (given: string, made: string): string => `${given} → ${made} tokens`,
  allTokens: (shown: string): string => `${shown} tokens`,
  limits: "Limits",
  noLimits: "Nothing limits this key.",
  budget: { daily: "a day", weekly: "a week", monthly: "a month" },
  spent: (spent: string, limit: string, interval: string): string => `${spent} of ${limit} ${interval}`,
  renewed: "renewed",
  tokenLimit: (used: string, limit: string, scope: string, interval: string): string =>
    `${used} of ${limit} tokens ${interval}, ${scope}`,
  everything: "of all models",
  shared: (owner: string, text: string): string => `${owner}: ${text}`,
  perMinute: (value: string): string => `${value} requests a minute`,
  perDay: (value: string): string => `${value} requests a day`,
  rules: {
    allowedModels: "Models that may be asked",
    blockedModels: "Models that are refused",
    allowedCombos: "Combos that may be asked",
    allowedProviders: "Providers",
    allowedEndpoints: "Kinds of requests"
  },
  ends: "The key ends",
  spend: "Cost and requests, 30 days",
  series: { requests: "Requests", cost: "Cost" },
  log: "Requests, the newest first",
  none: "This key was not used yet. Below is how to call the gateway with it.",
  columns: {
    time: "Time",
    model: "Model",
    target: "Served by",
    status: "Status",
    latency: "Latency",
    tokens: "Tokens",
    cost: "Cost"
  },
  outcome: { completed: "completed", failed: "failed", aborted: "client left" },
  newer: "The newest",
  older: "Older",
  models: "Models",
  modelCount: (value: number): string => plural(value, { one: "1 model", other: `${value} models` }),
  search: "Search models",
  more: (value: number): string => `and ${value} more: search for them`,
  noModel: "No model fits.",
  snippets: "How to call it",
  snippetHint: "Put the key into the variable GATEWAY_API_KEY; it is not in these texts."
} as const
