/** A filter whose patterns can be run. */
import type { Filter } from "./Filter.ts"
import { type Pattern, type PatternRefused, trusted } from "./Pattern.ts"

export interface Replacement {
  readonly pattern: Pattern
  readonly by: string
}

export interface Compiled {
  readonly filter: Filter
  /** Steps of all its patterns together, for each character. */
  readonly steps: number
  readonly commands: ReadonlyArray<Pattern>
  readonly shapes: ReadonlyArray<Pattern>
  readonly replace: ReadonlyArray<Replacement>
  readonly whole: ReadonlyArray<Replacement>
  readonly include: ReadonlyArray<Pattern>
  readonly drop: ReadonlyArray<Pattern>
  readonly pass: ReadonlyArray<Pattern>
  readonly collapse: ReadonlyArray<Pattern>
  readonly keep: ReadonlyArray<Pattern>
}

/** Reason for which a filter cannot be used: the field, and the problem. */
export interface FilterFault {
  readonly field: string
  readonly message: string
}

type Compile = (source: string) => Pattern | PatternRefused

/** The filter, or the first thing that is wrong with its patterns. */
export const compile = (filter: Filter, compilePattern: Compile): Compiled | FilterFault => {
  const faults: Array<FilterFault> = []
  let steps = 0
  const all = (field: string, sources: ReadonlyArray<string> = []): ReadonlyArray<Pattern> =>
    sources.flatMap((source, index) => {
      const pattern = compilePattern(source)
      if ("test" in pattern) {
        steps += pattern.steps
        return [pattern]
      }
      faults.push({ field: `${field}[${index}]`, message: pattern.message })
      return []
    })
  const { match, preserve = {}, rules } = filter
  const replacements = (field: string, pairs: ReadonlyArray<readonly [string, string]>): ReadonlyArray<Replacement> =>
    all(
      field,
      pairs.map(([pattern]) => pattern)
    ).map((pattern, index) => ({ pattern, by: pairs[index]?.[1] ?? "" }))
  const compiled: Omit<Compiled, "steps"> = {
    filter,
    commands: all("match.commands", match.commands),
    shapes: all("match.patterns", match.patterns),
    replace: replacements(
      "rules.replace",
      (rules.replace ?? []).map((each) => [each.pattern, each.replacement])
    ),
    whole: replacements(
      "rules.matchOutput",
      (rules.matchOutput ?? []).map((each) => [each.pattern, each.message])
    ),
    include: all("rules.includePatterns", rules.includePatterns),
    drop: all("rules.dropPatterns", rules.dropPatterns),
    pass: all("rules.passPatterns", rules.passPatterns),
    collapse: all("rules.collapsePatterns", rules.collapsePatterns),
    keep: [
      ...all("preserve.errorPatterns", preserve.errorPatterns),
      ...all("preserve.summaryPatterns", preserve.summaryPatterns)
    ]
  }
  return faults[0] ?? { ...compiled, steps }
}

/** A filter that this program comes with; its patterns are checked by the tests. */
export const compileBuiltIn = (filter: Filter): Compiled => {
  const compiled = compile(filter, trusted)
  if ("field" in compiled) throw new Error(`${filter.id}: ${compiled.field} ${compiled.message}`)
  return compiled
}
