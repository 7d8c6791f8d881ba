/** How much each factor counts: default weights, mode packs and what callers may say about them (document 1, ruling A2.1). Pure. */

export const factorNames = [
  "health",
  "quota",
  "costInv",
  "latencyInv",
  "taskFit",
  "stability",
  "tierPriority",
  "tierAffinity",
  "specificityMatch",
  "contextAffinity",
  "connectionDensity",
  "resetWindowAffinity"
] as const
export type FactorName = (typeof factorNames)[number]

/** All twelve, not negative, summing to 1: a score made with them lies in [0, 1]. */
export type Weights = Readonly<Record<FactorName, number>>

const isFactorName = (name: string): name is FactorName => factorNames.some((known) => known === name)

const none: Weights = {
  health: 0,
  quota: 0,
  costInv: 0,
  latencyInv: 0,
  taskFit: 0,
  stability: 0,
  tierPriority: 0,
  tierAffinity: 0,
  specificityMatch: 0,
  contextAffinity: 0,
  connectionDensity: 0,
  resetWindowAffinity: 0
}

export const sumOf = (weights: Weights): number => factorNames.reduce((sum, name) => sum + weights[name], 0)

/** Names not given count as 0. Numbers that sum to 1 already stay as they were written. The sum must not be 0. */
const settled = (given: Partial<Weights>): Weights => {
  const weights: Weights = { ...none, ...given }
  // Divided by the largest first: numbers near the end of the range would add up to infinity.
  const most = Math.max(...factorNames.map((name) => weights[name]))
  const sum = sumOf(weights)
  if (Math.abs(sum - 1) < 1e-9) return weights
  const share = (name: FactorName) => weights[name] / most
  const shares = factorNames.reduce((total, name) => total + share(name), 0)
  return Object.fromEntries(factorNames.map((name) => [name, share(name) / shares])) as Record<FactorName, number>
}

export const defaultWeights: Weights = settled({
  health: 0.2,
  quota: 0.15,
  costInv: 0.15,
  latencyInv: 0.12,
  taskFit: 0.08,
  stability: 0.05,
  tierPriority: 0.05,
  tierAffinity: 0.05,
  specificityMatch: 0.05,
  contextAffinity: 0.05,
  connectionDensity: 0.05
})

export type PackName =
  | "default"
  | "ship-fast"
  | "cost-saver"
  | "quality-first"
  | "offline-friendly"
  | "reliability-first"

/** The numbers as they are listed, before each pack is divided by its own sum. */
export const listedPacks = {
  "ship-fast": {
    quota: 0.14,
    health: 0.28,
    costInv: 0.05,
    latencyInv: 0.32,
    taskFit: 0.1,
    stability: 0,
    tierPriority: 0.05
  },
  "cost-saver": {
    quota: 0.14,
    health: 0.19,
    costInv: 0.37,
    latencyInv: 0.05,
    taskFit: 0.1,
    stability: 0.05,
    tierPriority: 0.05
  },
  "quality-first": {
    quota: 0.1,
    health: 0.18,
    costInv: 0.05,
    latencyInv: 0.05,
    taskFit: 0.37,
    stability: 0.15,
    tierPriority: 0.05
  },
  "offline-friendly": {
    quota: 0.37,
    health: 0.28,
    costInv: 0.1,
    latencyInv: 0.05,
    taskFit: 0,
    stability: 0.1,
    tierPriority: 0.05
  },
  "reliability-first": {
    health: 0.37,
    stability: 0.2,
    quota: 0.14,
    taskFit: 0.1,
    latencyInv: 0.05,
    tierPriority: 0.05,
    connectionDensity: 0.05,
    costInv: 0.04
  }
} as const

export const packs: Readonly<Record<PackName, Weights>> = {
  default: defaultWeights,
  "ship-fast": settled(listedPacks["ship-fast"]),
  "cost-saver": settled(listedPacks["cost-saver"]),
  "quality-first": settled(listedPacks["quality-first"]),
  "offline-friendly": settled(listedPacks["offline-friendly"]),
  "reliability-first": settled(listedPacks["reliability-first"])
}

const modes: ReadonlyMap<string, PackName> = new Map<string, PackName>([
  ["fast", "ship-fast"],
  ["quality", "quality-first"],
  ["cheap", "cost-saver"],
  ["reliable", "reliability-first"],
  ["offline", "offline-friendly"],
  ["balanced", "default"],
  ["default", "default"],
  ["ship-fast", "ship-fast"],
  ["cost-saver", "cost-saver"],
  ["quality-first", "quality-first"],
  ["offline-friendly", "offline-friendly"],
  ["reliability-first", "reliability-first"]
])

/** Words that `X-Gateway-Mode` and `config.modePack` accept. */
export const modeNames: ReadonlyArray<string> = [...modes.keys()]

/** The pack a mode word stands for; null for an unknown word, which is ignored in a header and refused in a combo. */
export const packOfMode = (mode: string): PackName | null => modes.get(mode.trim().toLowerCase()) ?? null

export interface Problem {
  /** Below `config`, as in `auto.weights.health`. */
  readonly field: string
  readonly message: string
}

/** A whole set of weights as somebody wrote it. Any positive sum will do: only the proportions count. */
export const readWeights = (
  written: unknown,
  field: string
): { readonly weights: Weights | null; readonly problems: ReadonlyArray<Problem> } => {
  if (typeof written !== "object" || written === null || Array.isArray(written)) {
    return { weights: null, problems: [{ field, message: "must be an object of factor name to number" }] }
  }
  const problems: Array<Problem> = []
  const given: Partial<Record<FactorName, number>> = {}
  for (const [name, weight] of Object.entries(written)) {
    if (!isFactorName(name)) {
      problems.push({ field: `${field}.${name}`, message: `is not a factor (${factorNames.join(", ")})` })
    } else if (typeof weight !== "number" || !Number.isFinite(weight) || weight < 0) {
      problems.push({ field: `${field}.${name}`, message: "must be a finite number, not negative" })
    } else {
      given[name] = weight
    }
  }
  if (problems.length === 0 && !Object.values(given).some((weight) => weight > 0)) {
    problems.push({ field, message: "must give at least one factor a weight above 0" })
  }
  return problems.length > 0 ? { weights: null, problems } : { weights: settled(given), problems }
}
