/** The number at a place of a sorted list, without sorting it: the list is parted again and again around one of its own. */
export const selected = (values: Float64Array, count: number, place: number): number => {
  let low = 0
  let high = count - 1
  while (low < high) {
    const pivot = values[(low + high) >> 1] ?? 0
    let left = low
    let right = high
    while (left <= right) {
      while ((values[left] ?? 0) < pivot) left += 1
      while ((values[right] ?? 0) > pivot) right -= 1
      if (left > right) break
      const swapped = values[left] ?? 0
      values[left] = values[right] ?? 0
      values[right] = swapped
      left += 1
      right -= 1
    }
    if (place <= right) high = right
    else if (place >= left) low = left
    else break
  }
  return values[place] ?? 0
}
