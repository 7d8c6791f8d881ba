/** One attempt to do harm, and what came of it. */
import type { Arena } from "./Arena.ts"

/** Null when the attempt was turned away; else how it went through. */
export type Verdict = string | null

export interface Attempt {
  readonly name: string
  readonly run: (arena: Arena) => Promise<Verdict>
}

/** A class of attack: what an attacker wants, and every way we know of to try for it. */
export interface AttackClass {
  readonly name: string
  /** Attempts of one class that may run side by side; those that watch shared state run alone. */
  readonly atOnce: number
  readonly attempts: ReadonlyArray<Attempt>
}

/** Every combination of two lists. */
export const pairs = <A, B>(left: ReadonlyArray<A>, right: ReadonlyArray<B>): ReadonlyArray<readonly [A, B]> =>
  left.flatMap((a) => right.map((b) => [a, b] as const))
