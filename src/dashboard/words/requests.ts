/** Words of the view of requests. */
import { plural } from "./plural.ts"

export const words = {
  title: "Requests",
  list: "Requests, the newest first",
  filter: "Filter",
  filterHint: "status:failed model:gpt-4o key:ci >2s",
  wrong: (texts: string): string => `Not understood: ${texts}`,
  rows: (value: number, text: string): string => plural(value, { one: "1 request", other: `${text} requests` }),
  filters: {
    id: "beginning of the id",
    model: "served by this model",
    asked: "asked for this model",
    provider: "served by this provider",
    account: "served by this account",
    connection: "served by this account",
    key: "asked by this key",
    batch: "of this batch",
    session: "of this session",
    combo: "served by this combo",
    outcome: "completed, failed or aborted",
    status: "a status, 5xx, or failed",
    error: "failed for this reason",
    from: "since this time or day",
    to: "before this time or day",
    cache: "hit or miss"
  } as Readonly<Record<string, string>>,
  session: { title: "Session's other requests", all: "All requests of this session", alone: "It is the only one." },
  views: {
    title: "Saved views",
    none: "No view is saved yet: type a filter, and give it a name.",
    name: "Save as a view named",
    save: "Save",
    remove: (name: string): string => `Remove the view ${name}`,
    saved: (name: string): string => `The view ${name} is saved.`,
    removed: (name: string): string => `The view ${name} is removed.`,
    undo: "Undo"
  },
  whyNot: {
    title: "Why not another target",
    label: "Why not",
    ask: "Why not?",
    served: "It served this request.",
    tried: (reasons: string): string => `It was called and failed: ${reasons}.`,
    leftOut: (why: string): string => `It was left out: ${why}`,
    behind: (place: number): string => `It is number ${place} of the order: those before it are called first.`,
    scored: (place: number, score: string, best: string): string =>
      `It is number ${place} of the order: its score is ${score}, the first has ${best}.`,
    noTarget: (asked: string): string =>
      `It could be called now, but ${asked} has no such target: ask for it by its own name, or add it to the combo.`,
    notShown: "It could be called now. It is not among the targets of this decision that are kept; there were more.",
    unusable: (why: string): string => `It could not be called at all now: ${why}`,
    cannot: "It cannot be asked for:"
  },
  without: {
    title: "Simulation without a target",
    label: "Without",
    ask: "Simulate",
    busy: "Simulating …",
    of: (requests: string): string => `${requests} such requests`,
    now: "As it is",
    without: (target: string): string => `Without ${target}`,
    served: "Served",
    failed: "Failed",
    p50: "Half within",
    p95: "95 % within",
    cost: "Cost",
    share: (target: string): string => `Served by ${target}`
  },
  captured: {
    title: "Headers and dropped fields",
    none: "Headers and fields that were dropped are kept of captured requests only, and this one was not captured.",
    nothingDropped: "No field of the request was dropped.",
    dropped: (fields: string): string => `Dropped fields: ${fields}`,
    request: "Headers of the request",
    response: "Headers of the answer",
    whole: "The whole capture"
  },
  tokens: {
    title: "Tokens",
    in: "Prompt",
    cacheRead: "Read from the cache",
    cacheWrite: "Written to the cache",
    out: "Answer",
    reasoning: "Reasoning",
    share: "Part of the prompt from the cache",
    ofPrompt: (percent: number): string => `${percent} % of the prompt came from the provider's cache`,
    estimated: "Counted by the gateway: the provider told nothing.",
    told: (tokensIn: string, tokensOut: string): string =>
      `The provider told ${tokensIn} → ${tokensOut}, which cannot be; the gateway counted itself.`
  },
  money: {
    title: "Tokens and money",
    upstream: (computed: string): string => `charged by the provider; ${computed} by its prices`,
    unpriced: (parts: string): string => `Without a price, and not in the cost: ${parts}`
  },
  notes: {
    standIn: (model: string): string => `${model} stands in for the model that was asked for.`,
    relaxed: (filters: string): string => `No target met these conditions, so they were dropped: ${filters}.`,
    more: (value: number): string =>
      plural(value, { one: "1 more target is not shown.", other: `${value} more targets are not shown.` }),
    plugin: (name: string, hook: string, action: string, took: string): string =>
      `Plugin ${name}, ${hook}: ${action}, ${took}`
  },
  time: {
    before: "Read and decided",
    after: "End",
    answer: "Answer",
    first: (target: string): string => `${target}: first token`
  },
  ledger: {
    title: "Ledger",
    none: "Nothing was reserved or booked for this request.",
    call: "Call",
    state: "State",
    states: { reserved: "reserved", settled: "booked", voided: "cost nothing", estimated: "booked as an estimate" },
    reserved: "Reserved",
    booked: "Booked",
    price: "Price in / out, 1M"
  },
  again: {
    title: "Explain again",
    means: "Decides the same model id now, for the same key, without a call to a provider.",
    now: "Now",
    same: "The first target would be the same.",
    other: (target: string): string => `The first target would be ${target}.`,
    none: "No target would be left."
  },
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
    combo: (name: string): string => `combo ${name}`,
    servedBy: "Served by",
    nobody: "nobody",
    cacheHit: "from the gateway's cache",
    coalesced: "shared the answer of an equal request",
    wire: "Wire",
    streamed: "streamed",
    egress: (proxy: string): string => `through the proxy ${proxy}`,
    key: "Asked by",
    principals: {
      key: "a key",
      operator: "the operator",
      session: "an admin session",
      anonymous: "a caller without a key"
    },
    batch: "Batch",
    unpriced: "no price is known",
    error: "Error"
  }
} as const
