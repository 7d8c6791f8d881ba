/** Now and then somebody other than the favourite, so that what is thought of the others stays true (document 1 "self-healing" 5). Pure. */
import type { SeededRandom } from "../../kernel/SeededRandom.ts"
import type { Candidate } from "../candidate/Candidate.ts"

/** One of those behind the first that are not OPEN, all equally likely; null when this request does not explore. */
export const explore = (ranked: ReadonlyArray<Candidate>, rate: number, random: SeededRandom): Candidate | null => {
  if (rate <= 0 || ranked.length < 2 || random.next() >= rate) return null
  const others = ranked.slice(1).filter(({ breaker }) => breaker !== "OPEN")
  return others[random.below(others.length)] ?? null
}
