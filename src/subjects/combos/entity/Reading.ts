/**
 * Reads a combo's `config` one key at a time: the valid values, and every problem with its path. Null counts as not given. An unknown
 * key is kept: it may be the operator's own, or a plugin's. Only one that is a letter or two away from a known key is a problem: it
 * is a typo and would have no effect. Pure.
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"

type Problems = ReadonlyArray<FieldProblem>
type Fields = Readonly<Record<string, Schema.Schema.AnyNoContext>>

type Values<F extends Fields> = { readonly [K in keyof F]?: Schema.Schema.Type<F[K]> }

/** The valid values of an object; absent where a key is not given or is wrong. */
export interface Read<A> {
  readonly values: A
  readonly problems: Problems
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Shorter names are too similar to one another to be taken for typos. */
const shortestTypo = 5

/** The known key closest to a mistyped one; null when none is close. */
export type Meant = (key: string, known: ReadonlyArray<string>) => string | null

/** Compares the key with each known one, which is too slow for anything but a save. */
export const typoOf: Meant = (key, known) => {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[-_]/g, "")
  const within = (letters: number) => known.find((name) => isWithin(letters, plain(key), plain(name)))
  return within(0) ?? (key.length < shortestTypo ? null : (within(1) ?? within(2) ?? null))
}

/** Checks whether the edit distance of two names is at most `letters`. */
const isWithin = (letters: number, one: string, other: string): boolean => {
  let at = 0
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1
  const [a, b] = [one.slice(at), other.slice(at)]
  if (a === "" || b === "") return a.length + b.length <= letters
  if (letters === 0) return false
  return (
    isWithin(letters - 1, a.slice(1), b.slice(1)) ||
    isWithin(letters - 1, a.slice(1), b) ||
    isWithin(letters - 1, a, b.slice(1))
  )
}

/** `ParseResult` lists the known names in quotes. */
const unknownName = (message: string): string =>
  `is not one of ${Array.from(message.matchAll(/"([^"]*)"/g), ([, name = ""]) => name).join(", ")}`

/** Lists the problems in the order of the value's keys; `ParseResult` reports unknown ones first. */
const problemsOf = (issue: ParseResult.ParseIssue, value: unknown, place: string): Problems => {
  const places = new Map(isRecord(value) ? Object.keys(value).map((key, index) => [key, index]) : [])
  const placeOf = ([key]: ReadonlyArray<PropertyKey>): number => places.get(String(key)) ?? 0
  return ParseResult.ArrayFormatter.formatIssueSync(issue)
    .toSorted((a, b) => placeOf(a.path) - placeOf(b.path))
    .map(({ _tag, message, path }) => ({
      field: [place, ...path.map(String)].join("."),
      message: _tag === "Unexpected" ? unknownName(message) : message
    }))
}

const expected = (value: unknown, place: string): Read<Readonly<Record<string, unknown>>> =>
  isRecord(value)
    ? { values: value, problems: [] }
    : { values: {}, problems: [{ field: place, message: "must be an object" }] }

/** Reads an object whose keys are `plain`, or hold objects with such keys. */
export const read = <Plain extends Fields, Nested extends Readonly<Record<string, Fields>>>(
  { nested, plain }: { readonly plain: Plain; readonly nested: Nested },
  given: unknown,
  place: string,
  meant: Meant
): Read<Values<Plain> & { readonly [K in keyof Nested]?: Values<Nested[K]> }> => {
  const object = expected(given, place)
  const problems: Array<FieldProblem> = [...object.problems]
  const values: Record<string, unknown> = {}
  const known = [...Object.keys(plain), ...Object.keys(nested)]
  for (const [key, value] of Object.entries(object.values)) {
    const at = `${place}.${key}`
    const fields = Object.hasOwn(nested, key) ? nested[key] : undefined
    const field = Object.hasOwn(plain, key) ? plain[key] : undefined
    if (fields !== undefined && value !== null) {
      const inner = read({ plain: fields, nested: {} }, value, at, meant)
      values[key] = inner.values
      problems.push(...inner.problems)
    } else if (field !== undefined && value !== null) {
      const decoded = ParseResult.decodeUnknownEither(field, { errors: "all" })(value)
      if (Either.isRight(decoded)) values[key] = decoded.right
      else problems.push(...problemsOf(decoded.left, value, at))
    } else if (fields === undefined && field === undefined) {
      const near = meant(key, known)
      if (near !== null) problems.push({ field: at, message: `is not known; did you mean '${near}'?` })
    }
  }
  return { values: values as Values<Plain> & { readonly [K in keyof Nested]?: Values<Nested[K]> }, problems }
}
