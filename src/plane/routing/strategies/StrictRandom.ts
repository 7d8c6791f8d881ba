/** `strict-random`: every request draws anew, every target equally likely, repeats allowed; the fallbacks are drawn likewise. */
import type { Strategy } from "../candidate/Strategy.ts"
import { ordering } from "./Ordering.ts"

export const strictRandom: Strategy = ({ candidates, memory, random }) =>
  ordering(random.shuffle(candidates), "drawn at random", memory)
