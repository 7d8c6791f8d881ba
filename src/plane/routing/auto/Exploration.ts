/** Now and then another candidate than the best one goes first, so that the measurements of the others stay current. Pure. */
import type { SeededRandom } from "../../../kernel/SeededRandom.ts"
import type { Candidate } from "../candidate/Candidate.ts"

/** One of those behind the first that are not OPEN, all equally likely; null when this request does not explore. */
export const explore = (ranked: ReadonlyArray<Candidate>, rate: number, random: SeededRandom): Candidate | null => {
  if (rate <= 0 || ranked.length < 2 || random.next() >= rate) return null
  const others = ranked.slice(1).filter(({ breaker }) => breaker !== "OPEN")
  return others[random.below(others.length)] ?? null
}
