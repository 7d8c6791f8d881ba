/**
 * Computes the cosine of two vectors of norm 1 with as many numbers; 0 for others, which come from different models.
 */
export const cosine = (one: Float32Array, other: Float32Array): number => {
  if (one.length !== other.length) return 0
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0)
  return Math.min(sum, 1)
}
