/** Names of the gateway's objects, as far as it gives them at once. */
import * as Effect from "effect/Effect"
import type { Candidate, LiveKind } from "./candidates.ts"

/** Nothing is waited for longer than a person would notice. */
const patience = "400 millis"

export const liveNames = (kinds: ReadonlyArray<LiveKind>): Effect.Effect<ReadonlyArray<Candidate>> =>
  Effect.succeed(kinds.flatMap((): ReadonlyArray<Candidate> => [])).pipe(
    Effect.timeoutTo({ duration: patience, onSuccess: (names) => names, onTimeout: () => [] })
  )
