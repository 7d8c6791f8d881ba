/** A score taken apart: it is the sum of its parts, each a weight times a factor. */
export interface ScorePart {
  readonly name: string
  readonly weight: number
  readonly factor: number
  readonly value: number
}

type Numbers = Readonly<Record<string, number>> | null

/** The parts, the largest first. */
export const partsOf = (weights: Numbers, factors: Numbers): ReadonlyArray<ScorePart> =>
  Object.entries(weights ?? {})
    .map(([name, weight]) => {
      const factor = factors?.[name] ?? 0
      return { name, weight, factor, value: weight * factor }
    })
    .filter(({ value }) => value !== 0)
    .toSorted((one, other) => other.value - one.value)
