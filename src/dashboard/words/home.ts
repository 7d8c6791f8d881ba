/** Words of the first page. */
import { plural } from "./plural.ts"

const requests = (value: string): string => `${value} ${value === "1" ? "request" : "requests"}`

export const words = {
  title: "Home",
  steps: {
    title: "Three steps to a first answer",
    lead: "Each is ticked when it is done. Then this page shows how the gateway does.",
    provider: "Connect a provider",
    providerHint: "An account at a provider, or a server of your own. Its key is checked before anything is stored.",
    providerDone: (value: string, many: number): string =>
      `${value} ${plural(many, { one: "account is", other: "accounts are" })} connected.`,
    providerAction: "Add a provider",
    providerMore: "Add another one",
    question: "Ask a first question",
    questionHint: "It goes where the gateway thinks best.",
    questionWaits: "It can be asked when a provider is connected.",
    questionDone: "A question was answered.",
    questionFailed: "Nothing was answered yet: the last question failed. Its decision says why.",
    client: "Point a client at this gateway",
    clientHint: "OpenAI clients take this address, others the same without /v1; a key says who asks.",
    clientDone: "A client has asked.",
    createKey: "Create a key",
    tools: "Set up a coding tool",
    asCurl: "Or try it in a terminal",
    states: { done: "done", next: "next", later: "later" },
    all: "Show the overview anyway"
  },
  providers: {
    title: "Providers, 24 h",
    all: "All providers",
    more: (value: number): string => plural(value, { one: "1 more provider", other: `${value} more providers` }),
    works: "works",
    resting: "resting",
    open: "breaker open",
    trying: "breaker tries again",
    ended: "cannot be used",
    off: "turned off",
    some: (down: number, all: number): string => `${down} of ${all} accounts down`,
    untried: "not asked yet",
    served: (share: string): string => `${share} answered`
  },
  attention: {
    title: (value: number): string => `Needs you (${value})`,
    nothing: "Needs you",
    well: "Nothing needs you.",
    all: (value: number): string => `Show all ${value}`,
    done: (what: string, name: string): string => `${name}: ${what}: done.`,
    refused: (what: string, name: string, why: string): string => `${name}: ${what}: ${why}`,
    failed: "it did not work",
    undone: "Taken back.",
    undo: "Undo",
    since: "since",
    unpriced: (value: number): string =>
      plural(value, { one: "1 model without a price", other: `${value} models without a price` }),
    unpricedText: (names: string): string => `${names}: what they cost counts as nothing.`,
    setPrices: "Set prices",
    see: "See",
    raise: "Raise",
    raiseTitle: (name: string): string => `Raise the budget of ${name}`,
    raiseHint: "It holds from the next request on.",
    limits: { daily: "USD a day", weekly: "USD a week", monthly: "USD a month" },
    raised: (name: string): string => `The budget of ${name} is raised.`,
    severities: { error: "Does not work", warning: "Soon, or in part", info: "To know" }
  },
  now: {
    title: "Now",
    perSecond: "req/s",
    course: "Requests of the last 30 seconds",
    running: "running",
    failed: "failed",
    slow: "p95",
    today: "today",
    budgets: (spent: string, limit: string): string => `${spent} of ${limit} budgeted`,
    budgetsOf: "Daily budgets that are spent",
    spent: (amount: string): string => `${amount} today`,
    of: (limit: string): string => `of ${limit} today`
  },
  day: {
    title: "Requests and cost, 24 h",
    requests: "Requests",
    failed: "Failed",
    cost: "Cost",
    none: "No request in the last 24 hours.",
    figures: {
      requests,
      failed: (share: string): string => `${share} failed`,
      tokens: (tokensIn: string, tokensOut: string): string => `${tokensIn} → ${tokensOut} tokens`,
      latency: (time: string): string => `${time} on average`
    }
  },
  top: {
    title: "Most asked, 24 h",
    parts: { models: "Models", keys: "Keys", combos: "Combos" },
    none: "None in the last 24 hours.",
    noKey: "Without a key",
    gone: "Deleted",
    requests
  },
  next: {
    title: "Runs out next",
    none: "At this pace nothing runs out before it is renewed.",
    budget: (interval: string): string => `${interval} budget`,
    quota: (window: string, unit: string): string => `${window.replaceAll("_", " ")} quota of ${unit}`,
    used: (share: string): string => `${share} used`,
    over: "used up",
    renewed: "renewed"
  }
} as const
