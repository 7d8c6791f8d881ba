/** Chooses the filter for an output: by the command that wrote it, else by its form. Pure. */
import { commandOf } from "./Command.ts"
import type { Compiled } from "./Compiled.ts"
import { seenChars } from "./Pattern.ts"
import { firstLines, outputTypeOf } from "./Shape.ts"

/** The greatest priority first; of equals the first in the list. */
export const ordered = (filters: ReadonlyArray<Compiled>): ReadonlyArray<Compiled> =>
  filters.toSorted((one, other) => other.filter.priority - one.filter.priority)

/**
 * Hot: finds the filter for a tool's output. Null: there is none. `filters` are ordered. The output of a command without a filter is
 * judged by its form, as that of a script that runs tests.
 */
export const filterFor = (
  filters: ReadonlyArray<Compiled>,
  commandLine: string | null,
  text: string
): Compiled | null => {
  const command = commandLine === null ? null : commandOf(commandLine)
  if (command !== null) {
    const seen = command.slice(0, seenChars)
    const found = filters.find(({ commands }) => commands.some((pattern) => pattern.test(seen)))
    if (found !== undefined) return found
  }
  const lines = firstLines(text)
  const type = outputTypeOf(text, lines)
  // Another engine is for JSON.
  if (type === "json") return null
  const byShape = filters.find(
    ({ shapes }) => shapes.length > 0 && lines.some((line) => shapes.some((pattern) => pattern.test(line)))
  )
  if (byShape !== undefined) return byShape
  if (type === null) return null
  return filters.find(({ filter }) => filter.match.outputTypes?.includes(type) === true) ?? null
}
