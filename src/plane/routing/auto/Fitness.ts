/**
 * Rates how well a model suits a task, [0, 1] (factor `taskFit`). Sources in this order: overrides (leaderboard), the map of named
 * models, the known capabilities of the model, and last the name alone. Pure; results are remembered by name, bounded.
 */
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { TaskType } from "../candidate/Candidate.ts"
import type { ModelFacts } from "../../providers/ModelFacts.ts"
import { classRows, namedFitness, type CapabilityClass, type FitnessRow } from "./FitnessMap.ts"
import type { FitnessOverride } from "./Leaderboard.ts"

export interface FitnessTable {
  /** Hot. */
  readonly fitness: (model: string, facts: ModelFacts, task: TaskType) => number
}

const rememberedNames = 4_096

/** The name a pattern is held against: without its path, and without the mark of a free offer. */
const baseName = (model: string): string => {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase()
  return name.replace(/(?::|-)free$/, "")
}

/** Checks whether a name fits a pattern, without regular expressions: a pattern from outside cannot make it slow. */
export const fitsPattern = (pattern: string, name: string): boolean => {
  const parts = pattern.split("*")
  const [first = ""] = parts
  const last = parts[parts.length - 1] ?? ""
  if (parts.length === 1) return name === pattern
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  const end = name.length - last.length
  let from = first.length
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}

const classOfCoding = (coding: number): CapabilityClass =>
  coding >= 0.9 ? "premium" : coding >= 0.82 ? "standard" : coding >= 0.75 ? "fast" : "budget"

/** The more letters a pattern names, the better it knows the model. */
const byLetters = <A extends { readonly pattern: string }>(rows: ReadonlyArray<A>): ReadonlyArray<A> => {
  const letters = (pattern: string) => pattern.replaceAll("*", "").length
  return rows.toSorted((a, b) => letters(b.pattern) - letters(a.pattern))
}

const named = byLetters(
  Object.entries(namedFitness).map(([pattern, row]) => ({
    pattern,
    row: { ...classRows[classOfCoding(row.coding)], ...row }
  }))
)

/** Thinking alone is no sign of strength: small models think, too. */
const classOfFacts = ({ contextLength, reasoning, toolCalling }: ModelFacts): CapabilityClass | null => {
  const wide = contextLength !== null && contextLength >= 128_000
  if (reasoning === true) return toolCalling === true && wide ? "premium" : "standard"
  if (toolCalling === true) return wide ? "standard" : "fast"
  return toolCalling === false ? "budget" : null
}

const unknownFitness = 0.5

const byName = (name: string, task: TaskType): number => {
  if (task === "coding") {
    const code = name.includes("coder") ? 0.15 : name.includes("code") ? 0.1 : 0
    return unknownFitness + code + (name.includes("fast") ? 0.05 : 0)
  }
  const thinks = (task === "planning" || task === "analysis") && name.includes("thinking")
  return unknownFitness + (thinks ? 0.1 : 0)
}

interface Known {
  readonly name: string
  readonly over: Partial<FitnessRow>
  readonly row: FitnessRow | null
}

/** A table with overrides on top of the static map; make a new one when the overrides change. */
export const makeFitness = (overrides: ReadonlyArray<FitnessOverride>): FitnessTable => {
  const rules = byLetters(
    overrides.map((override) => ({ ...override, pattern: override.pattern.trim().toLowerCase() }))
  )
  const known = new LruMap<string, Known>({ capacity: rememberedNames })

  const overridesOf = (name: string, full: string): Partial<FitnessRow> => {
    const over: Partial<Record<TaskType, number>> = {}
    const fitting = rules.filter(({ pattern }) => fitsPattern(pattern, name) || fitsPattern(pattern, full))
    // Rules for one task go before rules for all; among equals the one that names more of the model.
    for (const { fitness, task } of [...fitting.filter(({ task }) => task !== null), ...fitting]) {
      for (const each of task === null ? tasks : [task]) over[each] ??= fitness
    }
    return over
  }

  const learn = (model: string): Known => {
    const name = baseName(model)
    const full = model.slice(model.lastIndexOf("/") + 1).toLowerCase()
    const row = named.find(({ pattern }) => fitsPattern(pattern, name))?.row ?? null
    const entry: Known = { name, over: rules.length === 0 ? {} : overridesOf(name, full), row }
    known.set(model, entry)
    return entry
  }

  return {
    fitness: (model, facts, task) => {
      const { name, over, row } = known.peek(model) ?? learn(model)
      const rated = over[task] ?? row?.[task]
      if (rated !== undefined) return rated
      const kind = classOfFacts(facts)
      return kind === null ? byName(name, task) : classRows[kind][task]
    }
  }
}

const tasks: ReadonlyArray<TaskType> = [
  "coding",
  "review",
  "planning",
  "analysis",
  "debugging",
  "documentation",
  "default"
]

/** The static map alone. */
export const staticFitness: FitnessTable = makeFitness([])
