/** Maps in the order of last use, with a most that they hold: a `Map` keeps the order in which keys were put. */

/** Lets the oldest go until at most `capacity` are left; `dropped` hears of each. */
export const dropOldest = <K, V>(map: Map<K, V>, capacity: number, dropped?: (key: K, value: V) => void): void => {
  for (const [key, value] of map) {
    if (map.size <= capacity) return
    map.delete(key)
    dropped?.(key, value)
  }
}

/** Puts `key` as the youngest, whether it was there or not. */
export const putYoungest = <K, V>(
  map: Map<K, V>,
  key: K,
  value: V,
  capacity: number,
  dropped?: (key: K, value: V) => void
): void => {
  map.delete(key)
  map.set(key, value)
  if (map.size > capacity) dropOldest(map, capacity, dropped)
}
