/** Runs the tests that filters bring with them. Pure. */
import { apply, usualLimits } from "./Apply.ts"
import type { Compiled } from "./Compiled.ts"
import { filterFor } from "./Detect.ts"

export interface SelfTest {
  readonly filter: string
  readonly name: string
  readonly passed: boolean
  /** Null when it passed. */
  readonly reason: string | null
}

const difference = (expected: string, actual: string): string => {
  const expectedLines = expected.split("\n")
  const lines = actual.split("\n")
  const at = expectedLines.findIndex((line, index) => line !== lines[index])
  const where = at < 0 ? expectedLines.length : at
  return `line ${where + 1} is ${JSON.stringify(lines[where] ?? null)} instead of ${JSON.stringify(expectedLines[where] ?? null)}`
}

const failureOf = (
  filters: ReadonlyArray<Compiled>,
  compiled: Compiled,
  command: string | null,
  input: string,
  expected: string
): string | null => {
  if (command !== null) {
    const chosen = filterFor(filters, command, input)
    if (chosen !== compiled) return `the command is for ${chosen === null ? "no filter" : chosen.filter.id}`
  }
  const { text } = apply(compiled, input, usualLimits)
  return text === expected ? null : difference(expected, text)
}

/**
 * Runs the tests of the filters, at the level `standard` with the limits of the start. `filters` are ordered; a test's
 * command has to lead to its filter.
 */
export const selfTests = (
  filters: ReadonlyArray<Compiled>,
  isAsked: (filterId: string) => boolean = () => true
): ReadonlyArray<SelfTest> =>
  filters.flatMap((compiled) =>
    (isAsked(compiled.filter.id) ? (compiled.filter.tests ?? []) : []).map(
      ({ command = null, expected, input, name }) => {
        const reason = failureOf(filters, compiled, command, input, expected)
        return { filter: compiled.filter.id, name, passed: reason === null, reason }
      }
    )
  )
