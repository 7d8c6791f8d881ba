/** Small sums over the windows of a scenario. */

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** `part` of 1. */
export const percentile = (values, part) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]

export const sum = (values) => values.reduce((total, value) => total + value, 0)

/** The mean of the values that are there; undefined when none is. */
export const meanOf = (values) => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : sum(known) / known.length
}

export const ratio = (value, base) =>
  value === undefined || base === undefined || base === 0 ? undefined : value / base

/** Of Student's distribution, two-sided 95 %, by degrees of freedom from 1. */
const students = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23]

/** The geometric mean of ratios with its 95 % interval: `{ mean, low, high }`. */
export const geometricInterval = (ratios) => {
  const logarithms = ratios.map(Math.log)
  const mean = sum(logarithms) / logarithms.length
  const freedom = logarithms.length - 1
  const variance = freedom === 0 ? 0 : sum(logarithms.map((value) => (value - mean) ** 2)) / freedom
  const half = (students[Math.min(freedom, students.length) - 1] ?? 0) * Math.sqrt(variance / logarithms.length)
  return { mean: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) }
}
