/** Order of versions. https://semver.org/#spec-item-11 */

interface Parsed {
  readonly numbers: ReadonlyArray<number>
  /** Identifiers of a version before its release; empty for a release. */
  readonly before: ReadonlyArray<string>
}

const parsed = (version: string): Parsed => {
  const [plain = ""] = version.trim().replace(/^v/, "").split("+", 1)
  const dash = plain.indexOf("-")
  const core = dash === -1 ? plain : plain.slice(0, dash)
  return {
    numbers: core.split(".").map((part) => Number.parseInt(part, 10) || 0),
    before: dash === -1 ? [] : plain.slice(dash + 1).split(".")
  }
}

const compareIdentifiers = (a: string, b: string): number => {
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumberA && isNumberB) return Number(a) - Number(b)
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

/** Negative when `a` comes before `b`. */
export const compareVersions = (a: string, b: string): number => {
  const [one, other] = [parsed(a), parsed(b)]
  for (let place = 0; place < 3; place += 1) {
    const difference = (one.numbers[place] ?? 0) - (other.numbers[place] ?? 0)
    if (difference !== 0) return difference
  }
  // A release comes after the versions before it.
  if (one.before.length === 0 || other.before.length === 0) return other.before.length - one.before.length
  for (let place = 0; place < Math.max(one.before.length, other.before.length); place += 1) {
    const [x, y] = [one.before[place], other.before[place]]
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1
    const difference = compareIdentifiers(x, y)
    if (difference !== 0) return difference
  }
  return 0
}

export const isNewer = (version: string, than: string): boolean => compareVersions(version, than) > 0
