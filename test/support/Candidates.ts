/** Targets and candidates for tests of routing: complete, with what a test cares about given. */
import { type Account, snapshot } from "../../src/plane/providers/Catalog.ts"
import { unknownFacts } from "../../src/plane/providers/ModelFacts.ts"
import type { Candidate, Features, Performance } from "../../src/plane/routing/candidate/Candidate.ts"
import { targetKeyOf } from "../../src/plane/routing/resolve/TargetKey.ts"
import { plainFeatures as featuresOf } from "../../src/observe/simulation/Decider.ts"
import type { Target } from "../../src/plane/routing/resolve/ModelResolver.ts"
import { connection } from "./Records.ts"

export const nowMs = 1_800_000_000_000

/** Connection `id` of a provider of the registry, as the catalogue knows it. */
export const accountOf = (id: string, provider = "openai"): Account => {
  const [account] = snapshot([connection({ id, provider })], [], []).accounts
  if (account === undefined) throw new Error("the connection is not in the catalogue")
  return account
}

export const targetOf = (account: Account, model = "m"): Target => ({ account, model, suppressReasoning: false })

/** A target for code that reads ids only. */
export const namedTarget = (provider: string, connectionId = provider, model = "m"): Target =>
  targetOf({ spec: { id: provider }, connection: { id: connectionId } } as Account, model)

/** Healthy, idle, and nothing measured. */
export const candidateOf = (target: Target, given: Partial<Candidate> = {}): Candidate => ({
  target,
  key: targetKeyOf(target),
  weight: 1,
  facts: unknownFacts,
  tier: null,
  price: null,
  breaker: "CLOSED",
  unready: null,
  performance: null,
  quotas: [],
  used: 0,
  inFlight: 0,
  ...given
})

/** A question of a thousand tokens that asks for nothing special. */
export const plainFeatures: Features = featuresOf({
  wire: "chat",
  stream: false,
  promptTokens: 1_000,
  maxOutputTokens: null
})

export const performanceOf = (p95Ms: number, given: Partial<Performance> = {}): Performance => ({
  samples: 20,
  p50Ms: p95Ms / 2,
  p95Ms,
  deviationMs: 10,
  errorRate: 0,
  ttftMs: null,
  tokensPerSecond: null,
  ...given
})
