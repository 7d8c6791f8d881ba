/** Keeps the terminal from showing what is typed from before a question for a secret until its answer has been tried. */
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"

/**
 * A question for a secret turns the echo off only while it waits. What is pasted sooner, or while an earlier answer is tried, would be on
 * the screen. Here it stays off for the whole effect: what is typed early answers the next question, and Ctrl-C ends the effect at any time.
 */
export const secretly = <A, E, R>(
  asking: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Terminal.QuitException, R | Terminal.Terminal> =>
  Effect.scoped(
    Effect.gen(function* () {
      const terminal = yield* Terminal.Terminal
      const answers = yield* terminal.readInput
      const watched = yield* terminal.readInput
      const stopped = Effect.mapError(Effect.forever(watched.take), () => new Terminal.QuitException())
      return yield* Effect.raceFirst(
        Effect.provideService(asking, Terminal.Terminal, { ...terminal, readInput: Effect.succeed(answers) }),
        stopped
      )
    })
  )
