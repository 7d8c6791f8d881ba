/** Versions and ranges of them, as npm reads them. https://semver.org https://github.com/npm/node-semver#ranges */
import coerce from "semver/functions/coerce.js"
import gt from "semver/functions/gt.js"
import parse from "semver/functions/parse.js"
import satisfies from "semver/functions/satisfies.js"
import validRange from "semver/ranges/valid.js"

const maxRangeChars = 200

/** Versions before a release count by their order alone. */
const options = { includePrerelease: true }

/** Other registries' versions may have fewer numbers, such as `2026.1`. */
const read = (version: string) => parse(version, { loose: true }) ?? coerce(version)

/** Checks whether a version comes after another; one that cannot be read comes after none. */
export const isNewer = (version: string, than: string): boolean => {
  const [one, other] = [read(version), read(than)]
  return one !== null && other !== null && gt(one, other)
}

/** Checks whether a version is in the range; null when that is no range. */
export const isInRange = (version: string, range: string): boolean | null =>
  range.length > maxRangeChars || validRange(range, options) === null ? null : satisfies(version, range, options)
