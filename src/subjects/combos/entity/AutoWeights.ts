/** The factors of `auto`, sets of weights for them, and the names of mode packs. Pure. */
import * as Schema from "effect/Schema"

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

/** Missing names count as 0. Numbers that sum to 1 already stay as they were written. The sum must not be 0. */
export const settled = (given: Partial<Weights>): Weights => {
  const weights: Weights = { ...none, ...given }
  // Divided by the largest first: numbers near the end of the range would add up to infinity.
  const most = Math.max(...factorNames.map((name) => weights[name]))
  const sum = sumOf(weights)
  if (Math.abs(sum - 1) < 1e-9) return weights
  const share = (name: FactorName) => weights[name] / most
  const shares = factorNames.reduce((total, name) => total + share(name), 0)
  return Object.fromEntries(factorNames.map((name) => [name, share(name) / shares])) as Record<FactorName, number>
}

const Weight = Schema.optionalWith(
  Schema.Number.pipe(
    Schema.finite(),
    Schema.nonNegative({
      description: "The part that this factor has in a score.",
      message: () => ({ message: "must be a finite number, not negative", override: true })
    })
  ),
  { exact: true }
)

const noWeight = "must give at least one factor a weight above 0"

/** A complete set of weights as configured. Any positive sum will do: only the proportions count. */
export const WrittenWeights = Schema.Struct({
  health: Weight,
  quota: Weight,
  costInv: Weight,
  latencyInv: Weight,
  taskFit: Weight,
  stability: Weight,
  tierPriority: Weight,
  tierAffinity: Weight,
  specificityMatch: Weight,
  contextAffinity: Weight,
  connectionDensity: Weight,
  resetWindowAffinity: Weight
})
  .annotations({
    message: () => "must be an object of factor name to number",
    parseOptions: { onExcessProperty: "error" }
  })
  .pipe(
    Schema.filter((weights) => Object.values(weights).some((weight) => weight > 0) || noWeight, {
      jsonSchema: {},
      description: "How much each factor of a score counts. Only the proportions matter; factors not given count 0."
    })
  )

export type PackName =
  | "default"
  | "ship-fast"
  | "cost-saver"
  | "quality-first"
  | "offline-friendly"
  | "reliability-first"

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

/** Names that `X-Gateway-Mode` and `config.modePack` accept. */
export const modeNames: ReadonlyArray<string> = [...modes.keys()]

/** The pack a mode name stands for; null for an unknown name, which is ignored in a header and refused in a combo. */
export const packOfMode = (mode: string): PackName | null => modes.get(mode.trim().toLowerCase()) ?? null
