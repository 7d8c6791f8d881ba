/** Places the rows of a list that have different heights. */

/** Offsets of rows by their heights: one more than there are rows. */
export const offsetsOf = (heights: ReadonlyArray<number>): ReadonlyArray<number> => {
  let at = 0
  const offsets = [0]
  for (const height of heights) offsets.push((at += height))
  return offsets
}

/** The row at a place: the last one that begins at it or before. */
export const rowAt = (offsets: ReadonlyArray<number>, place: number): number => {
  let low = 0
  let high = Math.max(0, offsets.length - 2)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((offsets[middle] ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return low
}
