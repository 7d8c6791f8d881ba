/** Forms of an attempt that is about to be made: a result that is known already, one call in plain callbacks, or an effect. */
import * as Effect from "effect/Effect"
import type { AttemptResult } from "./AttemptResult.ts"

/** Effect that asks a target, or its result where none is needed. */
export type Attempting =
  /** Nothing: it is known already what comes of it. */
  | { readonly _tag: "Known"; readonly result: AttemptResult }
  /** One call. `done` is called exactly once, maybe before `start` returns; the returned function cancels the call instead. */
  | { readonly _tag: "Call"; readonly start: (done: (result: AttemptResult) => void) => () => void }
  /** A call with something to be waited for before or after it. */
  | { readonly _tag: "Effect"; readonly attempt: Effect.Effect<AttemptResult> }

export const known = (result: AttemptResult): Attempting => ({ _tag: "Known", result })

export const attemptEffect = (attempting: Attempting): Effect.Effect<AttemptResult> => {
  switch (attempting._tag) {
    case "Known":
      return Effect.succeed(attempting.result)
    case "Call":
      return Effect.async((resume) => {
        const cancel = attempting.start((result) => resume(Effect.succeed(result)))
        return Effect.sync(cancel)
      })
    case "Effect":
      return attempting.attempt
  }
}
