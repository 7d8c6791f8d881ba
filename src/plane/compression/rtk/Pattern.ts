/** Patterns of filters. Built-in ones run on the engine of the platform, those of operators on one that takes linear time for any pattern. */
import * as Either from "effect/Either"
import { compileLinear } from "../../../kernel/text/LinearPattern.ts"

/** Characters of a line that are looked at. */
export const seenChars = 1_000

/** Steps of a pattern of an operator: lines are short, and a request has a budget of steps. */
const maxLineSteps = 512

/** Hot: pattern for lines. Calls are made with `seenChars` characters at most. */
export interface Pattern {
  /** Cost for each character (`LinearPattern.ts`); 0 for patterns that this program comes with. */
  readonly steps: number
  readonly test: (line: string) => boolean
  /** The line with each match replaced; `$1` is a group. */
  readonly replace: (line: string, replacement: string) => string
  /** The replacement alone, with the groups of the first match; null when there is none. */
  readonly expand: (line: string, replacement: string) => string | null
}

/** Reason for which a pattern cannot be used. */
export interface PatternRefused {
  readonly message: string
}

const filled = (replacement: string, groups: ReadonlyArray<string | null | undefined>): string =>
  replacement.replaceAll(/\$([0-9])/g, (_, digit: string) => groups[Number(digit)] ?? "")

/** A pattern that this program comes with. */
export const trusted = (source: string): Pattern => {
  const pattern = new RegExp(source)
  const all = new RegExp(source, "g")
  return {
    steps: 0,
    test: (line) => pattern.test(line),
    replace: (line, replacement) =>
      pattern.test(line) ? line.replaceAll(all, (...groups: Array<string>) => filled(replacement, groups)) : line,
    expand: (line, replacement) => {
      const groups = pattern.exec(line)
      return groups === null ? null : filled(replacement, groups)
    }
  }
}

/**
 * Checks whether a repetition without bound is inside another: `(a+)+`. RE2 runs such patterns in linear time, but with all of its states
 * at each character, and they can always be written without.
 */
export const isNested = (source: string): boolean => {
  /** Open groups, each with whether it holds a repetition. */
  const groups: Array<boolean> = [false]
  let isInClass = false
  for (let at = 0; at < source.length; at += 1) {
    const sign = source.charAt(at)
    if (sign === "\\") {
      at += 1
    } else if (isInClass) {
      isInClass = sign !== "]"
    } else if (sign === "[") {
      isInClass = true
    } else if (sign === "(") {
      groups.push(false)
    } else if (sign === ")") {
      const holds = groups.pop() === true
      const isRepeated = /^(?:[*+]|\{\d+,(?:[2-9]|\d{2,})?\}|\{\d{2,}\})/.test(source.slice(at + 1, at + 12))
      if (holds && isRepeated) return true
      if (groups.length === 0) return false
      if (holds || isRepeated) groups[groups.length - 1] = true
    } else if (sign === "*" || sign === "+" || /^\{\d+,\}/.test(source.slice(at, at + 8))) {
      groups[groups.length - 1] = true
    }
  }
  return false
}

/** A pattern of an operator, or why it is refused. */
export const foreign = (source: string): Pattern | PatternRefused => {
  if (isNested(source))
    return { message: "has a repetition inside a repetition; write it without, such as a+ for (a+)+" }
  const compiled = compileLinear(source, maxLineSteps)
  if (Either.isLeft(compiled)) return { message: compiled.left }
  const pattern = compiled.right.regex
  const groupsOf = (matcher: ReturnType<typeof pattern.matcher>): ReadonlyArray<string | null> =>
    Array.from({ length: Math.min(10, matcher.groupCount() + 1) }, (_, index) => matcher.group(index))
  return {
    steps: compiled.right.steps,
    test: (line) => pattern.matcher(line).find(),
    replace: (line, replacement) => {
      const matcher = pattern.matcher(line)
      let text = ""
      let from = 0
      while (matcher.find()) {
        text += line.slice(from, matcher.start()) + filled(replacement, groupsOf(matcher))
        from = matcher.end()
      }
      return text + line.slice(from)
    },
    expand: (line, replacement) => {
      const matcher = pattern.matcher(line)
      return matcher.find() ? filled(replacement, groupsOf(matcher)) : null
    }
  }
}
