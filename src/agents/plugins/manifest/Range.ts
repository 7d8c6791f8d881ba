/** Ranges of versions as npm writes them: `>=0.1.0 <2`, `^1.2.0`, `~1.2`, `1.x`, `*`, several with `||`. https://github.com/npm/node-semver#ranges */
import { compareVersions } from "../../../kernel/text/Versions.ts"

export const maxRangeChars = 200

interface Bound {
  readonly at: string
  readonly test: (order: number) => boolean
}

const partial =
  /^(?:v?(\d{1,9}|[xX*])(?:\.(\d{1,9}|[xX*]))?(?:\.(\d{1,9}|[xX*])(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)?)$/
const comparator = /^(>=|<=|>|<|=|\^|~)?(.+)$/

const atLeast = (at: string): Bound => ({ at, test: (order) => order >= 0 })
/** Makes a bound below a release, without the versions before it, such as `2.0.0-beta` for `<2`. */
const below = (at: string): Bound => ({ at: `${at}-0`, test: (order) => order < 0 })

interface Partial {
  readonly major: number
  readonly minor: number | null
  readonly patch: number | null
  readonly before: string
}

const numberOf = (text: string | undefined): number | null =>
  text === undefined || /^[xX*]$/.test(text) ? null : Number(text)

/** Null: any version; undefined: no version. */
const readPartial = (text: string): Partial | null | undefined => {
  const found = partial.exec(text)
  if (found === null) return undefined
  const major = numberOf(found[1])
  if (major === null) return null
  const minor = numberOf(found[2])
  return { major, minor, patch: minor === null ? null : numberOf(found[3]), before: found[4] ?? "" }
}

const first = ({ before, major, minor, patch }: Partial): string => `${major}.${minor ?? 0}.${patch ?? 0}${before}`

/** The first version behind all that the digits given stand for. */
const behind = ({ major, minor, patch }: Partial): string =>
  minor === null ? `${major + 1}.0.0` : patch === null ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`

const caretEnd = ({ major, minor, patch }: Partial): string => {
  if (major > 0 || minor === null) return `${major + 1}.0.0`
  if (minor > 0 || patch === null) return `0.${minor + 1}.0`
  return `0.0.${patch + 1}`
}

const exact = (at: string): Bound => ({ at, test: (order) => order === 0 })

const boundsOf = (operator: string, version: Partial): ReadonlyArray<Bound> => {
  const whole = version.patch !== null
  switch (operator) {
    case ">=":
      return [atLeast(first(version))]
    case "<":
      return [
        whole && version.before !== "" ? { at: first(version), test: (order) => order < 0 } : below(first(version))
      ]
    case ">":
      return whole ? [{ at: first(version), test: (order) => order > 0 }] : [atLeast(behind(version))]
    case "<=":
      return whole ? [{ at: first(version), test: (order) => order <= 0 }] : [below(behind(version))]
    case "^":
      return [atLeast(first(version)), below(caretEnd(version))]
    case "~":
      return [
        atLeast(first(version)),
        below(version.minor === null ? `${version.major + 1}.0.0` : `${version.major}.${version.minor + 1}.0`)
      ]
    default:
      return whole ? [exact(first(version))] : [atLeast(first(version)), below(behind(version))]
  }
}

const setOf = (text: string): ReadonlyArray<Bound> | null => {
  const bounds: Array<Bound> = []
  for (const word of text.replace(/([<>=^~])\s+/g, "$1").split(/\s+/)) {
    if (word === "") continue
    const [, operator = "", rest = ""] = comparator.exec(word) ?? []
    const version = readPartial(rest)
    if (version === undefined) return null
    if (version !== null) bounds.push(...boundsOf(operator, version))
  }
  return bounds
}

/** Checks whether a version is in the range; null when that is no range. */
export const isInRange = (version: string, range: string): boolean | null => {
  if (range.length > maxRangeChars) return null
  const sets = range.split("||").map(setOf)
  let fits = false
  for (const set of sets) {
    if (set === null) return null
    if (set.every(({ at, test }) => test(compareVersions(version, at)))) fits = true
  }
  return fits
}
