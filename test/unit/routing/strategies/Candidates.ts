/** Candidates for tests of the strategies: complete, with what a test cares about given. */
import { snapshot } from "../../../../src/providers/Catalog.ts"
import { unknownFacts } from "../../../../src/providers/ModelFacts.ts"
import type { Candidate, Features, Performance, QuotaWindow } from "../../../../src/routing/engine/Candidate.ts"
import { blankMemory, type Ordering, type StrategyInput } from "../../../../src/routing/engine/Strategy.ts"
import { type OrderingStrategy, strategies } from "../../../../src/routing/strategies/index.ts"
import { makeSeededRandom } from "../../../../src/kernel/SeededRandom.ts"
import { connection } from "../../../support/Records.ts"

export const nowMs = 1_800_000_000_000
export const hourMs = 3_600_000

const [account] = snapshot([connection({ id: "template", provider: "openai" })], [], []).accounts

/** Connection `id` with the model `m`; its key is `id/m`. */
export const candidate = (id: string, given: Partial<Candidate> = {}): Candidate => ({
  target: {
    account: { ...account!, connection: connection({ id, provider: "openai" }) },
    model: "m",
    suppressReasoning: false
  },
  key: `${id}/m`,
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

export const candidates = (ids: string, given: Partial<Candidate> = {}): ReadonlyArray<Candidate> =>
  [...ids].map((id) => candidate(id, given))

export const features: Features = {
  wire: "chat",
  stream: false,
  promptTokens: 1_000,
  maxOutputTokens: null,
  hasTools: false,
  hasImages: false,
  wantsReasoning: false,
  wantsSchema: false,
  taskType: "default",
  specificity: 0,
  sessionKey: null
}

export const performance = (given: Partial<Performance>): Performance => ({
  samples: 10,
  p50Ms: 90,
  p95Ms: 990,
  deviationMs: 10,
  errorRate: 0,
  ttftMs: null,
  tokensPerSecond: null,
  ...given
})

export const quota = (
  window: QuotaWindow["window"],
  remaining: number,
  resetInMs: number | null = null
): QuotaWindow => ({ window, remaining, resetAtMs: resetInMs === null ? null : nowMs + resetInMs })

export const facts = (contextLength: number | null) => ({ facts: { ...unknownFacts, contextLength } })

export const input = (
  given: Partial<StrategyInput> & { readonly candidates: ReadonlyArray<Candidate> }
): StrategyInput => ({
  features,
  config: {},
  memory: blankMemory,
  random: makeSeededRandom(1),
  nowMs,
  ...given
})

export const idOf = ({ target }: Candidate): string => target.account.connection.id

/** Connection ids in order, written together. */
export const ids = ({ order }: Pick<Ordering, "order">): string => order.map(idOf).join("")

export const run = (
  strategy: OrderingStrategy,
  given: Partial<StrategyInput> & { readonly candidates: ReadonlyArray<Candidate> }
): Ordering => strategies[strategy].order(input(given))

/** Who is first in `times` decisions, one after the other, each with the memory of the one before. */
export const firsts = (
  strategy: OrderingStrategy,
  times: number,
  given: Partial<StrategyInput> & { readonly candidates: ReadonlyArray<Candidate> }
): string => {
  let memory = given.memory ?? blankMemory
  const random = given.random ?? makeSeededRandom(20_261_121)
  let seen = ""
  for (let time = 0; time < times; time++) {
    const ordering = run(strategy, { ...given, memory, random })
    memory = ordering.memory
    seen += idOf(ordering.order[0]!)
  }
  return seen
}

export const countsOf = (seen: string): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const id of seen) counts[id] = (counts[id] ?? 0) + 1
  return counts
}
