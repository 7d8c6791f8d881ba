/** Words of the first page. */
import { plural } from "./plural.ts"

export const words = {
  title: "Home",
  tiles: {
    requests: "Requests, 24 h",
    failed: "Failed",
    cost: "Cost, 24 h",
    tokens: "Tokens, 24 h",
    latency: "Latency on average"
  },
  steps: {
    title: "Three steps to a first answer",
    provider: "Connect a provider",
    providerHint: "In a terminal:",
    question: "Ask a first question",
    client: "Point a client at this gateway",
    clientHint: "OpenAI clients take this address, others the same without /v1:"
  },
  providers: "Providers",
  attention: {
    title: (value: number): string => `Needs you (${value})`,
    nothing: "Needs you",
    well: "Nothing needs you.",
    more: (value: number): string => plural(value, { one: "1 more", other: `${value} more` }),
    done: (what: string, name: string): string => `${what}: ${name}`
  },
  now: {
    title: "Now",
    perSecond: "requests a second",
    course: "Requests of the last 60 seconds",
    running: "running",
    failed: "failed",
    slow: "slowest 5 %"
  },
  day: {
    title: "The last 24 hours",
    requests: "Requests",
    failed: "Failed",
    cost: "Cost"
  }
} as const
