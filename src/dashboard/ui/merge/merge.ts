/** Two edits of one version of an object, compared field by field and laid over each other. Pure. */

export interface Difference {
  /** Names of the members that lead to the field. */
  readonly path: ReadonlyArray<string>
  /** Undefined: it is not there. */
  readonly base: unknown
  readonly mine: unknown
  readonly theirs: unknown
  /** Side that changed the field since the version that both were made from. */
  readonly by: "me" | "others" | "both"
}

export type Side = "mine" | "theirs"

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** JSON in which the order of members does not count. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    isMembers(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member
  ) ?? ""

export const isSame = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other)

/** Name of a field by its path, as the API's errors have it. */
export const nameOfPath = (path: ReadonlyArray<string>): string => path.join(".")

/** The fields in which two edits of `base` differ. A list is one field. */
export const differencesOf = (
  base: unknown,
  mine: unknown,
  theirs: unknown,
  path: ReadonlyArray<string> = []
): ReadonlyArray<Difference> => {
  if (isSame(mine, theirs)) return []
  if (!isMembers(mine) || !isMembers(theirs)) {
    const by = isSame(theirs, base) ? "me" : isSame(mine, base) ? "others" : "both"
    return [{ path, base, mine, theirs, by }]
  }
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)])
  const before: Members = isMembers(base) ? base : {}
  return [...names].flatMap((name) => differencesOf(before[name], mine[name], theirs[name], [...path, name]))
}

/** The side that a field is taken from without a question; null: both have changed it, so the reader has to choose. */
export const sideOf = ({ by }: Difference): Side | null => (by === "me" ? "mine" : by === "others" ? "theirs" : null)

const withField = (members: Members, [name, ...rest]: ReadonlyArray<string>, value: unknown): Members => {
  if (name === undefined) return members
  const { [name]: present, ...others } = members
  if (rest.length > 0) return { ...members, [name]: withField(isMembers(present) ? present : {}, rest, value) }
  return value === undefined ? others : { ...members, [name]: value }
}

/** Lays the fields of mine that were chosen over what is stored now. */
export const mergedOf = <A extends object>(
  theirs: A,
  differences: ReadonlyArray<Difference>,
  sideOfField: (difference: Difference) => Side
): A =>
  differences.reduce<Members>(
    (members, difference) =>
      sideOfField(difference) === "mine" ? withField(members, difference.path, difference.mine) : members,
    theirs as unknown as Members
  ) as unknown as A
