import { decodeStored } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { unknownFacts } from "../../../../src/plane/providers/ModelFacts.ts"
import type { Account } from "../../../../src/plane/providers/Catalog.ts"
import { makeSeededRandom } from "../../../../src/kernel/SeededRandom.ts"
import type { Candidate, Features } from "../../../../src/plane/routing/candidate/Candidate.ts"
import { blankMemory } from "../../../../src/plane/routing/candidate/Strategy.ts"
import { autoDefaults, orderAuto, type AutoInput, type AutoOrdering } from "../../../../src/plane/routing/auto/Auto.ts"
import { parseAutoId, type AutoSpec } from "../../../../src/plane/routing/resolve/AutoId.ts"
import { accountOf, candidateOf, nowMs, plainFeatures, targetOf } from "../../../support/Candidates.ts"

const base = accountOf("base")

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
  const account = {
    ...base,
    connection: { ...base.connection, id, provider },
    spec: {
      ...base.spec,
      id: provider,
      name: provider,
      aliases: [],
      category: "inference" as const,
      class: "apikey" as const,
      ...spec
    }
  }
  return candidateOf(targetOf(account, model), { facts: { ...unknownFacts, ...facts }, ...rest })
}

export const features = (over: Partial<Features> = {}): Features => ({ ...plainFeatures, ...over })

export const spec = (id: string): AutoSpec => parseAutoId(id)!

/** Without exploration, unless the config says so. */
export const inputOf = (
  candidates: ReadonlyArray<Candidate>,
  over: Partial<Omit<AutoInput, "spec" | "policy">> & {
    readonly config?: object
    readonly id?: string
    readonly seed?: number
  } = {}
): AutoInput => {
  const { config = {}, id = "auto/coding", seed = 1, ...rest } = over
  return {
    ...autoDefaults,
    candidates,
    features: features(),
    policy: decodeStored({ explorationRate: 0, ...config }),
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
