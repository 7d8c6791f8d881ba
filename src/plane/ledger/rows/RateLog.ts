/**
 * The requests of a rate in its last window, as a row keeps them: counts by hundredths of the window, each at its end. So never more than the limit
 * come in any stretch of the window, and a request is counted for one hundredth longer at most. Pure.
 */

/** Times and how many requests came by them, the oldest first. */
export type RateLog = ReadonlyArray<readonly [atMs: number, count: number]>

const steps = 100

const stepOf = (rateMs: number): number => Math.max(1, Math.floor(rateMs / steps))

/** The log at a time: without what is out of the window. Times that have not come are of a clock that was set back. */
export const logAt = (log: RateLog, rateMs: number, nowMs: number): RateLog => {
  const latestMs = nowMs + stepOf(rateMs)
  return log.flatMap(([atMs, count]) => {
    const knownMs = Math.min(atMs, latestMs)
    return knownMs + rateMs > nowMs ? [[knownMs, count] as const] : []
  })
}

export const countOf = (log: RateLog): number => log.reduce((sum, [, count]) => sum + count, 0)

export const added = (log: RateLog, rateMs: number, atMs: number, count: number): RateLog => {
  const step = stepOf(rateMs)
  const endMs = Math.ceil(atMs / step) * step
  const known = log.findIndex((entry) => entry[0] === endMs)
  if (known !== -1) return log.map((entry, at) => (at === known ? [entry[0], entry[1] + count] : entry))
  return [...log, [endMs, count] as const].toSorted(([one], [other]) => one - other)
}

/** Time in ms until so many of the oldest are out of the window; null: there are not so many. */
export const waitOf = (log: RateLog, rateMs: number, count: number, nowMs: number): number | null => {
  let sum = 0
  for (const [atMs, each] of log) {
    sum += each
    if (sum >= count) return Math.max(1, atMs + rateMs - nowMs)
  }
  return null
}
