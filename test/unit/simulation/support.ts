/** A combo of accounts of several providers, without a store, for simulations and replays. */
import { noPolicy } from "../../../src/subjects/combos/entity/ComboPolicy.ts"
import { defaultResilience } from "../../../src/subjects/resilience/entity.ts"
import { noTokens, type UsageRow } from "../../../src/contract/domain/Usage.ts"
import { snapshot } from "../../../src/plane/providers/Catalog.ts"
import { unknownFacts } from "../../../src/plane/providers/ModelFacts.ts"
import { builtInStrategy } from "../../../src/plane/routing/auto/RouterStrategies.ts"
import { noBehaviours } from "../../../src/observe/simulation/Behaviour.ts"
import type { Resolution } from "../../../src/plane/routing/resolve/ModelResolver.ts"
import { makeSimulation, type Simulation, type SimulationInput } from "../../../src/observe/simulation/Simulation.ts"
import type { SimulationReport } from "../../../src/observe/simulation/Report.ts"
import { targetOf } from "../../support/Candidates.ts"
import { connection } from "../../support/Records.ts"

export const providers = ["openai", "groq", "mistral", "deepseek", "anthropic"] as const

/** Accounts `one`, `two`, … of different providers with these weights. */
export const names = ["one", "two", "three", "four", "five"] as const

export const resolutionOf = (strategy: string, weights: ReadonlyArray<number>): Resolution => {
  const connections = weights.map((_, index) =>
    connection({ id: names[index]!, provider: providers[index]!, createdAtMs: index })
  )
  const { accounts } = snapshot(connections, [], [])
  return {
    combo: null,
    strategy,
    targets: accounts.map((account) => targetOf(account)),
    weights,
    steps: weights.map((_, index) => index),
    auto: null,
    quotaGroup: null,
    policy: noPolicy
  }
}

type Given = Partial<Omit<SimulationInput, "behaviours">> & {
  readonly strategy?: string
  readonly weights?: ReadonlyArray<number>
  readonly behaviours?: Partial<SimulationInput["behaviours"]>
}

export const simulationOf = ({ behaviours, strategy = "priority", weights = [1, 1, 1], ...given }: Given): Simulation =>
  makeSimulation({
    model: "combo",
    resolution: resolutionOf(strategy, weights),
    requests: 300,
    seed: 1,
    ratePerSecond: 10,
    burst: 1,
    behaviours: { ...noBehaviours, ...behaviours },
    scenario: null,
    streamed: null,
    promptTokens: 1_000,
    outputTokens: 500,
    settings: defaultResilience,
    factsOf: () => unknownFacts,
    price: (provider) => (provider === "openai" ? { input: 2, output: 4 } : { input: 1, output: 1 }),
    policy: { routerStrategies: builtInStrategy, freeTierStrict: false },
    ...given
  })

export const simulated = (given: Given): SimulationReport => {
  const simulation = simulationOf(given)
  while (simulation.run(1_000));
  return simulation.report()
}

/** A good answer of account `one`, for 4 mUSD in 100 ms. */
export const row = (index: number, given: Partial<UsageRow> = {}): UsageRow => ({
  id: `row-${index}`,
  timestampMs: 1_800_000_000_000 + index,
  requestId: `row-${index}`,
  apiKeyId: null,
  requestedModel: "old",
  combo: "old",
  provider: "openai",
  connectionId: "one",
  model: "m",
  sourceWire: "chat",
  targetWire: "chat",
  streamed: false,
  outcome: "completed",
  status: 200,
  latencyMs: 100,
  ttftMs: null,
  attempts: 1,
  tokens: { ...noTokens, in: 1_000, out: 500 },
  told: null,
  costNotes: null,
  principal: null,
  costNanoUsd: 4_000_000,
  priced: true,
  price: null,
  usageSource: "upstream",
  reservedNanoUsd: 0,
  calls: null,
  error: null,
  batchId: null,
  answeredFrom: null,
  egress: null,
  tags: null,
  sessionId: null,
  ...given
})
