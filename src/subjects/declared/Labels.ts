/**
 * Labels by which things of one name are distinguished in a file: the first is known by its name, the second as
 * `name#2`. Pure.
 */

/** Labels of names in their order. One that another thing has as its name gets a further sign. */
export const labelsOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set(names)
  const counts = new Map<string, number>()
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    if (count === 1) return name
    let label = `${name}#${count}`
    while (taken.has(label)) label = `${label}#`
    taken.add(label)
    return label
  })
}

interface Dated {
  readonly [name: string]: unknown
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** Orders things as they were made, so that labels stay the same. */
export const byAge = <A extends Dated>(
  things: ReadonlyArray<A>,
  member: "createdAt" | "created_at"
): ReadonlyArray<A> => {
  const ageOf = (thing: A): string => `${text(thing[member])} ${text(thing["id"])}`
  return things.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : ageOf(a) > ageOf(b) ? 1 : 0))
}
