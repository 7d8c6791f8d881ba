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
