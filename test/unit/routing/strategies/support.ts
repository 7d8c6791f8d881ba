/** Candidates for tests of the strategies: accounts of one provider, and what a strategy makes of them. */
import { decodeStored } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { makeSeededRandom } from "../../../../src/kernel/SeededRandom.ts"
import { unknownFacts } from "../../../../src/plane/providers/ModelFacts.ts"
import type { Candidate, Performance, QuotaWindow } from "../../../../src/plane/routing/candidate/Candidate.ts"
import { blankMemory, type Ordering, type StrategyInput } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { type OrderingStrategy, strategies } from "../../../../src/plane/routing/strategies/index.ts"
import { accountOf, candidateOf, nowMs, performanceOf, plainFeatures, targetOf } from "../../../support/Candidates.ts"

export const hourMs = 3_600_000

const template = accountOf("template")

/** Connection `id` with the model `m`; its key is `id m`. */
export const candidate = (id: string, given: Partial<Candidate> = {}): Candidate =>
  candidateOf(targetOf({ ...template, connection: { ...template.connection, id } }), given)

export const candidates = (ids: string, given: Partial<Candidate> = {}): ReadonlyArray<Candidate> =>
  [...ids].map((id) => candidate(id, given))

/** A first token after 90 ms or as given, 10 ms more or less. */
export const performance = (given: Partial<Performance>): Performance => performanceOf(180, given)

export const quota = (
  window: QuotaWindow["window"],
  remaining: number,
  resetInMs: number | null = null
): QuotaWindow => ({ window, remaining, resetAtMs: resetInMs === null ? null : nowMs + resetInMs })

export const facts = (contextLength: number | null) => ({ facts: { ...unknownFacts, contextLength } })

/** `config`: the combo's, as it is stored. */
type Given = Partial<Omit<StrategyInput, "policy">> & {
  readonly candidates: ReadonlyArray<Candidate>
  readonly config?: object
}

export const input = ({ config = {}, ...given }: Given): StrategyInput => ({
  features: plainFeatures,
  policy: decodeStored(config),
  memory: blankMemory,
  random: makeSeededRandom(1),
  nowMs,
  ...given
})

export const idOf = ({ target }: Candidate): string => target.account.connection.id

/** Connection ids in order, written together. */
export const ids = ({ order }: Pick<Ordering, "order">): string => order.map(idOf).join("")

export const run = (strategy: OrderingStrategy, given: Given): Ordering => strategies[strategy].order(input(given))

/** Who is first in `times` decisions, one after the other, each with the memory of the one before. */
export const firsts = (strategy: OrderingStrategy, times: number, given: Given): string => {
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
