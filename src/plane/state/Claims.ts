/**
 * Work that only one process may do at a time: renewals of tokens, deliveries of webhooks, retention, syncs, schedules. A process asks for a claim
 * and works as long as it holds it. In one process every claim is granted at once; of several processes on one machine the owner of the data folder has
 * them all (docs/workers.md).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { StoreError } from "../../store/Errors.ts"

export interface ClaimsShape {
  /** Runs work as long as this process holds a claim. `fence` is larger than that of every holder before. Done when it never will hold it. */
  readonly whileHeld: <A, E, R>(
    key: string,
    work: (fence: number) => Effect.Effect<A, E, R>
  ) => Effect.Effect<void, E, R>
  /** Hot: checks whether this process holds a claim now. */
  readonly holds: (key: string) => boolean
  /** Makes a piece of work that outlives a process (a batch, a job) this data folder's, which alone goes on with it; false: it is another's. */
  readonly own: (work: string) => Effect.Effect<boolean, StoreError>
  /** Forgets whose it was, when it is over. */
  readonly disown: (work: string) => Effect.Effect<void, StoreError>
}

/** Nothing is another's. */
const unshared: Pick<ClaimsShape, "disown" | "own"> = { own: () => Effect.succeed(true), disown: () => Effect.void }

/** All claims are this process's. */
export const all: ClaimsShape = {
  whileHeld: (_, work) => Effect.asVoid(work(1)),
  holds: () => true,
  ...unshared
}

/** No claim ever is: another process has them. */
export const none: ClaimsShape = { whileHeld: () => Effect.void, holds: () => false, ...unshared }

export class Claims extends Context.Reference<Claims>()("gateway/plane/state/Claims", {
  defaultValue: () => all
}) {}

/** Runs work that one process does, where that is this one. */
export const claimed = <A, E, R>(key: string, work: Effect.Effect<A, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(Claims, ({ whileHeld }) => whileHeld(key, () => work))

/** The same for writings that may fail: where that is not known the work is this process's, as it has it in hand. */
export const ownedHere = ({ own }: ClaimsShape, work: string): Effect.Effect<boolean> =>
  Effect.catchAll(own(work), (error) =>
    Effect.as(Effect.logWarning(`It could not be stored that ${work} is this gateway's`, error), true)
  )

/** Forgets it where that can be stored: what is left is a name of nothing. */
export const disowned = ({ disown }: ClaimsShape, work: string): Effect.Effect<void> => Effect.ignore(disown(work))
