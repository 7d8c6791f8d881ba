/**
 * Measures how well vectors of a model, with and without the comparison of words, distinguish the same question from a
 * similar one. Pure.
 */
import type { Wording } from "../../../subjects/cache/entity.ts"
import { cosine } from "../../../kernel/Cosine.ts"
import type { Pair } from "./Paraphrases.ts"
import { mayShare, wordingOf } from "./Wording.ts"

/** Parts from 0 to 1, of the pairs with one question (hits) and of those with two (wrong hits). */
export interface MeasuredAt {
  readonly threshold: number
  readonly hits: number
  readonly wrongHits: number
  /** Hits by the vectors alone. */
  readonly vectorHits: number
  readonly wrongVectorHits: number
}

export interface Measured {
  readonly samePairs: number
  readonly otherPairs: number
  readonly rows: ReadonlyArray<MeasuredAt>
  /** The lowest of the thresholds from which on there is no wrong hit; null when there is none. */
  readonly threshold: number | null
}

export const thresholds: ReadonlyArray<number> = [0.7, 0.75, 0.8, 0.85, 0.88, 0.9, 0.92, 0.94, 0.96, 0.98]

interface Compared {
  readonly isSame: boolean
  readonly similarity: number
  readonly isAllowed: boolean
}

const part = (some: number, all: number): number => (all === 0 ? 0 : some / all)

/** `vectorOf`: of length 1, null where there is none; such pairs are left out. */
export const measured = (pairs: ReadonlyArray<Pair>, vectorOf: (text: string) => Float32Array | null): Measured => {
  const wordings = new Map<string, Wording>()
  const wording = (text: string): Wording => {
    const known = wordings.get(text) ?? wordingOf(text)
    wordings.set(text, known)
    return known
  }
  const compared = pairs.flatMap(({ isSame, one, other }): ReadonlyArray<Compared> => {
    const [a, b] = [vectorOf(one), vectorOf(other)]
    if (a === null || b === null) return []
    return [{ isSame, similarity: cosine(a, b), isAllowed: mayShare(wording(one), wording(other)) }]
  })
  const same = compared.filter(({ isSame }) => isSame)
  const others = compared.filter(({ isSame }) => !isSame)
  const rows = thresholds.map((threshold): MeasuredAt => {
    const near = ({ similarity }: Compared) => similarity >= threshold
    const hit = (pair: Compared) => near(pair) && pair.isAllowed
    return {
      threshold,
      hits: part(same.filter(hit).length, same.length),
      wrongHits: part(others.filter(hit).length, others.length),
      vectorHits: part(same.filter(near).length, same.length),
      wrongVectorHits: part(others.filter(near).length, others.length)
    }
  })
  const lastWrong = rows.findLastIndex(({ wrongHits }) => wrongHits > 0)
  return { samePairs: same.length, otherPairs: others.length, rows, threshold: rows[lastWrong + 1]?.threshold ?? null }
}
