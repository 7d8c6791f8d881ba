/** Suggests known names for a mistyped one by edit distance, for error messages. */

const distance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      const value = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost)
      row.push(value)
      if (value < least) least = value
    }
    if (least > limit) return limit + 1
    previous = row
  }
  return previous[b.length] ?? limit + 1
}

const longestName = 200
const mostNames = 5_000

/** Up to `count` of `known`, nearest first; only names within a third of the typed length count as near. */
export const closest = (typed: string, known: ReadonlyArray<string>, count: number): ReadonlyArray<string> => {
  const name = typed.slice(0, longestName).toLowerCase()
  const limit = Math.max(2, Math.floor(name.length / 3))
  const tail = name.slice(name.lastIndexOf("/") + 1)
  return [...new Set(known.slice(0, mostNames))]
    .map((candidate) => {
      const lower = candidate.toLowerCase()
      const sameTail = tail !== "" && lower.endsWith(`/${tail}`)
      return { candidate, far: sameTail ? 0 : distance(name, lower, limit) }
    })
    .filter(({ far }) => far <= limit)
    .toSorted((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, count)
    .map(({ candidate }) => candidate)
}
