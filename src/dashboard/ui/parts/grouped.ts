/** Groups entries by what they have in common, in the order in which the groups come. */
export const grouped = <A, K>(all: ReadonlyArray<A>, keyOf: (entry: A) => K): ReadonlyMap<K, ReadonlyArray<A>> => {
  const groups = new Map<K, Array<A>>()
  for (const entry of all) {
    const key = keyOf(entry)
    const known = groups.get(key)
    if (known === undefined) groups.set(key, [entry])
    else known.push(entry)
  }
  return groups
}
