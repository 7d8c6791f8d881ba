/** What must hold when a combo is saved or deleted (contract B5 "Combos"). Pure, over the whole set of combos. */
import type { ComboSettings } from "../domain/Combo.ts"
import { behindNoThinking } from "./ModelIds.ts"
import { builtStrategies } from "./Router.ts"

export const maxNesting = 10

type Named = Pick<ComboSettings, "name" | "targets">
type Edges = ReadonlyMap<string, ReadonlyArray<string>>

const reference = "combo:"

/** The combo a target refers to, also by the no-thinking alias; null when it is a model. */
const referenceOf = (model: string): string | null => {
  const id = behindNoThinking(model) ?? model
  return id.startsWith(reference) ? id.slice(reference.length).trim() : null
}

/** Names of the combos a combo's targets refer to, each once. */
export const referencesOf = (combo: Pick<ComboSettings, "targets">): ReadonlyArray<string> => [
  ...new Set(combo.targets.flatMap(({ model }) => referenceOf(model) ?? []))
]

/** Names of the combos that use one directly. */
export const usersOf = (name: string, combos: ReadonlyArray<Named>): ReadonlyArray<string> =>
  combos.filter((combo) => combo.name !== name && referencesOf(combo).includes(name)).map((combo) => combo.name)

export type ComboProblem =
  | { readonly _tag: "StrategyNotBuilt"; readonly strategy: string }
  | { readonly _tag: "UnknownCombo"; readonly index: number; readonly name: string }
  | { readonly _tag: "Cycle" }
  | { readonly _tag: "TooDeep"; readonly levels: number }

const reaches = (from: string, to: string, edges: Edges): boolean => {
  const seen = new Set<string>()
  const open = [...(edges.get(from) ?? [])]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === to) return true
    if (seen.has(name)) continue
    seen.add(name)
    open.push(...(edges.get(name) ?? []))
  }
  return false
}

/** Number of combos on the longest way from one, itself included. The edges must have no cycle. */
const longest = (from: string, edges: Edges): number => {
  const known = new Map<string, number>()
  const visit = (name: string): number => {
    const before = known.get(name)
    if (before !== undefined) return before
    const levels = 1 + (edges.get(name) ?? []).reduce((most, next) => Math.max(most, visit(next)), 0)
    known.set(name, levels)
    return levels
  }
  return visit(from)
}

/** What forbids saving `combo` beside the `others`; null when nothing does. The others are sound already. */
export const problemOf = (
  combo: Named & Pick<ComboSettings, "strategy">,
  others: ReadonlyArray<Named>
): ComboProblem | null => {
  if (!builtStrategies.has(combo.strategy)) return { _tag: "StrategyNotBuilt", strategy: combo.strategy }
  const all = [...others.filter((other) => other.name !== combo.name), combo]
  const uses = new Map(all.map((each) => [each.name, referencesOf(each)]))
  const unknown = combo.targets.findIndex(({ model }) => {
    const name = referenceOf(model)
    return name !== null && !uses.has(name)
  })
  if (unknown !== -1) {
    return { _tag: "UnknownCombo", index: unknown, name: referenceOf(combo.targets[unknown]?.model ?? "") ?? "" }
  }
  if (reaches(combo.name, combo.name, uses)) return { _tag: "Cycle" }
  const usedBy = new Map(all.map((each) => [each.name, usersOf(each.name, all)]))
  const levels = longest(combo.name, uses) + longest(combo.name, usedBy) - 1
  return levels > maxNesting ? { _tag: "TooDeep", levels } : null
}
