/** Words of the view of requests. */
import { plural } from "./plural.ts"

export const words = {
  title: "Requests",
  list: "Requests, the newest first",
  filter: "Filter",
  filterHint: "status:failed model:gpt-4o key:ci >2s",
  wrong: (texts: string): string => `Not understood: ${texts}`,
  running: "Under way",
  runningCount: (value: number): string =>
    plural(value, { one: "1 request under way", other: `${value} requests under way` }),
  states: { waiting: "waiting", calling: "calling", streaming: "streaming" },
  ofTargets: (value: number): string => plural(value, { one: "of 1 target", other: `of ${value} targets` }),
  undecided: "not decided yet",
  stillRunning: "This request is still under way.",
  newOnes: (value: number): string => `${value} new`,
  none: "No request yet.",
  noneHint: "Point a client at this gateway; its requests appear here.",
  noMatch: "No request fits the filter.",
  columns: {
    time: "Time",
    model: "Model",
    target: "Served by",
    status: "Status",
    latency: "Latency",
    first: "First token",
    tokens: "Tokens",
    cost: "Cost"
  },
  outcome: { completed: "completed", failed: "failed", aborted: "client left" },
  choose: "Choose a request to see why it went where it went.",
  detail: "Request",
  close: "Close the detail",
  why: "Why here",
  noDecision: "No decision is kept of this request.",
  chose: (strategy: string): string => `Ordered by ${strategy}.`,
  candidates: "Targets",
  attempts: (value: number): string => plural(value, { one: "1 call", other: `${value} calls` }),
  timeline: "Time line",
  leftOut: "left out",
  until: (time: string): string => `until ${time}`,
  served: "served",
  score: "Score",
  factors: "Factors",
  sum: "Σ weight × factor",
  facts: {
    asked: "Asked for",
    wire: "Wire",
    key: "Key",
    noKey: "no key",
    tokens: "Tokens",
    cached: "of them from the cache",
    cost: "Cost",
    unpriced: "no price is known",
    error: "Error",
    id: "Id"
  }
} as const
