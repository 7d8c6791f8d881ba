/** Rules for saving or deleting a combo. Pure, over the whole set of combos. */
import { decodeStored } from "./entity/ComboPolicy.ts"
import { maxComboDepth } from "./entity/ConfigFields.ts"
import type { ComboSettings } from "./entity.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import { type Aliases, endOf } from "../../plane/routing/resolve/Aliases.ts"
import { behindNoThinking } from "../../plane/routing/resolve/ModelIds.ts"

export const maxNesting = maxComboDepth

type Named = Pick<ComboSettings, "name" | "targets"> & Partial<Pick<ComboSettings, "config">>
type Edges = ReadonlyMap<string, ReadonlyArray<string>>

const noAliases: Aliases = new Map()

/** The combo a target says it refers to, also by the no-thinking alias or an alias; null when it says nothing of a combo. */
const explicitReference = (model: string, aliases: Aliases): string | null => {
  const id = endOf(aliases, model) ?? model
  return id.startsWith("combo:") || id.startsWith("combo/") ? id.slice("combo:".length).trim() : null
}

/** The same for a target that may also give a combo's bare name, as a client does. */
const referenceOf = (model: string, aliases: Aliases, isCombo: (name: string) => boolean): string | null => {
  const explicit = explicitReference(model, aliases)
  if (explicit !== null) return explicit
  const id = behindNoThinking(model) ?? model
  // A combo's name takes precedence over an alias of the same name.
  const name = isCombo(id) ? id : (endOf(aliases, id) ?? id)
  return isCombo(name) ? name : null
}

/** Models that a config names; as targets they are not asked, but without them the combo does not do what it says. */
const namedByConfig = ({ config = {} }: Named): ReadonlyArray<string> => {
  const { handoffModel, judgeModel } = decodeStored(config)
  return [judgeModel, handoffModel].filter((model) => model !== null)
}

const references = (
  combo: Pick<ComboSettings, "targets">,
  aliases: Aliases,
  isCombo: (name: string) => boolean
): ReadonlyArray<string> => [
  ...new Set(combo.targets.flatMap(({ model }) => referenceOf(model, aliases, isCombo) ?? []))
]

/** Names of the combos that use one directly, as a target or as a judge. */
export const usersOf = (
  name: string,
  combos: ReadonlyArray<Named>,
  aliases: Aliases = noAliases
): ReadonlyArray<string> => {
  const isIt = (other: string): boolean => other === name
  return combos
    .filter(
      (combo) =>
        combo.name !== name &&
        (references(combo, aliases, isIt).includes(name) ||
          namedByConfig(combo).some((model) => referenceOf(model, aliases, isIt) === name))
    )
    .map((combo) => combo.name)
}

/** Aliases that stand for a combo, directly. */
export const aliasesOf = (name: string, aliases: Aliases): ReadonlyArray<string> =>
  [...aliases].flatMap(([alias, model]) =>
    referenceOf(model, noAliases, (other) => other === name) === name ? [alias] : []
  )

export type ComboProblem =
  | { readonly _tag: "NoTargets" }
  | { readonly _tag: "NoWeight" }
  | { readonly _tag: "UnknownCombo"; readonly index: number; readonly name: string }
  | { readonly _tag: "Cycle" }
  /** `at`: the combo that allows no more than `most`; null when it is the limit for all combos. */
  | { readonly _tag: "TooDeep"; readonly levels: number; readonly most: number; readonly at: string | null }

/** A problem by the field of the input that causes it. */
export const fieldProblemOf = (problem: ComboProblem): FieldProblem => {
  switch (problem._tag) {
    case "NoTargets":
      return { field: "targets", message: "must name at least one target; only the strategy 'auto' does without" }
    case "NoWeight":
      return { field: "targets", message: "must have at least one weight above 0" }
    case "UnknownCombo":
      return { field: `targets.${problem.index}.model`, message: `there is no combo '${problem.name}'` }
    case "Cycle":
      return { field: "targets", message: "the combo would contain itself" }
    case "TooDeep": {
      const { at, levels, most } = problem
      const message =
        at === null
          ? `combos would nest ${levels} levels deep; at most ${most} are allowed`
          : `combos would nest ${levels} levels deep below '${at}', whose maxComboDepth is ${most}`
      return { field: "targets", message }
    }
  }
}

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

/** A weighted choice needs a weight above 0; a target without a weight has the weight 1. */
const isWeightless = ({ strategy, targets }: Pick<ComboSettings, "strategy" | "targets">): boolean =>
  strategy === "weighted" && targets.every(({ weight }) => weight === 0)

/** Checks whether some of the combos would contain themselves, once these aliases hold. */
export const haveCycle = (combos: ReadonlyArray<Named>, aliases: Aliases): boolean => {
  const names = new Set(combos.map(({ name }) => name))
  const uses = new Map(combos.map((each) => [each.name, references(each, aliases, (name) => names.has(name))]))
  return combos.some(({ name }) => reaches(name, name, uses))
}

/**
 * Returns the reason for which `combo` cannot be saved beside the `others`; null when there is none. The others are
 * sound already.
 */
export const problemOf = (
  combo: Named & Pick<ComboSettings, "strategy">,
  others: ReadonlyArray<Named>,
  aliases: Aliases = noAliases
): ComboProblem | null => {
  if (combo.targets.length === 0 && combo.strategy !== "auto") return { _tag: "NoTargets" }
  if (isWeightless(combo)) return { _tag: "NoWeight" }
  const all = [...others.filter((other) => other.name !== combo.name), combo]
  const names = new Set(all.map(({ name }) => name))
  const uses = new Map(all.map((each) => [each.name, references(each, aliases, (name) => names.has(name))]))
  for (const [index, { model }] of combo.targets.entries()) {
    const name = explicitReference(model, aliases)
    if (name !== null && !names.has(name)) return { _tag: "UnknownCombo", index, name }
  }
  if (reaches(combo.name, combo.name, uses)) return { _tag: "Cycle" }
  const usedBy = new Map<string, Array<string>>(all.map((each) => [each.name, []]))
  for (const [name, used] of uses) for (const other of used) usedBy.get(other)?.push(name)
  const levels = longest(combo.name, uses) + longest(combo.name, usedBy) - 1
  if (levels > maxNesting) return { _tag: "TooDeep", levels, most: maxNesting, at: null }
  for (const each of all) {
    const most = decodeStored(each.config ?? {}).maxComboDepth
    if (most === maxNesting || (each !== combo && !reaches(each.name, combo.name, uses))) continue
    const own = longest(each.name, uses)
    if (own > most) return { _tag: "TooDeep", levels: own, most, at: each.name }
  }
  return null
}
