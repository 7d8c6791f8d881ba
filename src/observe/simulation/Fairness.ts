/** Measures how far shares are from weights. Pure. */
import type { SimulationReport } from "./Report.ts"

type Fairness = SimulationReport["fairness"]

/** Weights as shares that sum to 1; all of them 0: every share is the same. */
export const sharesOf = (weights: ReadonlyArray<number>): ReadonlyArray<number> => {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => (total > 0 ? weight / total : 1 / weights.length))
}

/** Jain's index of what each got for its share: 1 is perfectly fair, 1/n is all for one. Null when nothing was given out. */
export const jainIndex = (counts: ReadonlyArray<number>, shares: ReadonlyArray<number>): number | null => {
  const rates = counts.flatMap((count, index) => {
    const share = shares[index] ?? 0
    return share > 0 ? [count / share] : []
  })
  const sum = rates.reduce((all, rate) => all + rate, 0)
  const squares = rates.reduce((all, rate) => all + rate * rate, 0)
  return squares === 0 ? null : (sum * sum) / (rates.length * squares)
}

/** Follows the first choices of decisions: how far any target was ever ahead of its share, or behind it, in requests. */
export const makeLag = (shares: ReadonlyArray<number>) => {
  const counts = shares.map(() => 0)
  let chosen = 0
  let most = 0
  return {
    choose: (index: number): void => {
      counts[index] = (counts[index] ?? 0) + 1
      chosen += 1
      // Done for each request: an iterator would make an array of each entry.
      for (let place = 0; place < shares.length; place += 1) {
        most = Math.max(most, Math.abs((counts[place] ?? 0) - chosen * (shares[place] ?? 0)))
      }
    },
    most: (): number => most
  }
}

export const fairnessOf = (
  served: ReadonlyArray<number>,
  shares: ReadonlyArray<number>,
  largestLagRequests: number
): Fairness => {
  const total = served.reduce((sum, count) => sum + count, 0)
  const deviations = served.map((count, index) => Math.abs(count / total - (shares[index] ?? 0)))
  return {
    maxDeviation: total === 0 ? null : Math.max(...deviations),
    jainIndex: jainIndex(served, shares),
    largestLagRequests
  }
}
