import { unknownFacts } from "../../../../src/providers/ModelFacts.ts"
import { snapshot, type Account } from "../../../../src/providers/Catalog.ts"
import { makeSeededRandom } from "../../../../src/kernel/SeededRandom.ts"
import type { Candidate, Features, Performance } from "../../../../src/routing/engine/Candidate.ts"
import { blankMemory } from "../../../../src/routing/engine/Strategy.ts"
import { autoDefaults, orderAuto, type AutoInput, type AutoOrdering } from "../../../../src/routing/auto/Auto.ts"
import { parseAutoId, type AutoSpec } from "../../../../src/routing/auto/AutoId.ts"
import { connection } from "../../../support/Records.ts"

export const nowMs = 1_800_000_000_000

const base: Account = snapshot([connection({ id: "base", provider: "openai" })], [], []).accounts[0]!

/** `id` is the connection and, up to the first `#`, the provider. */
export const candidate = (
  id: string,
  over: Partial<Omit<Candidate, "facts">> & {
    readonly model?: string
    readonly facts?: Partial<Candidate["facts"]>
    readonly spec?: Partial<Account["spec"]>
  } = {}
): Candidate => {
  const { facts, model = "m", spec, ...rest } = over
  const provider = id.split("#")[0]!
  return {
    target: {
      account: {
        ...base,
        connection: { ...base.connection, id, provider },
        spec: {
          ...base.spec,
          id: provider,
          name: provider,
          aliases: [],
          category: "inference",
          class: "apikey",
          ...spec
        }
      },
      model,
      suppressReasoning: false
    },
    key: `${id} ${model}`,
    weight: 1,
    facts: { ...unknownFacts, ...facts },
    tier: null,
    price: null,
    breaker: "CLOSED",
    unready: null,
    performance: null,
    quotas: [],
    used: 0,
    inFlight: 0,
    ...rest
  }
}

export const measured = (p95Ms: number, over: Partial<Performance> = {}): Performance => ({
  samples: 20,
  p50Ms: p95Ms / 2,
  p95Ms,
  deviationMs: 10,
  errorRate: 0,
  ttftMs: null,
  tokensPerSecond: null,
  ...over
})

export const features = (over: Partial<Features> = {}): Features => ({
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
  sessionKey: null,
  ...over
})

export const spec = (id: string): AutoSpec => parseAutoId(id)!

/** Without exploration, unless the config says so. */
export const inputOf = (
  candidates: ReadonlyArray<Candidate>,
  over: Partial<Omit<AutoInput, "spec">> & { readonly id?: string; readonly seed?: number } = {}
): AutoInput => {
  const { config = {}, id = "auto/coding", seed = 1, ...rest } = over
  return {
    ...autoDefaults,
    candidates,
    features: features(),
    config: { explorationRate: 0, ...config },
    memory: blankMemory,
    random: makeSeededRandom(seed),
    nowMs,
    spec: spec(id),
    ...rest
  }
}

export const ordered = (...args: Parameters<typeof inputOf>): AutoOrdering => {
  const result = orderAuto(inputOf(...args))
  if (result._tag !== "Ordered") throw new Error(result._tag)
  return result
}

export const ids = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<string> =>
  candidates.map(({ target }) => target.account.connection.id)

export const firstOf = (...args: Parameters<typeof inputOf>): string => ids(ordered(...args).order)[0]!
