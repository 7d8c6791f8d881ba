/** A sign of life on the terminal while something takes longer than half a second. Nothing is written where standard error is no terminal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const clearLine = "\r\u001b[K"

const write = (text: string): Effect.Effect<void> => Effect.sync(() => void process.stderr.write(text))

const turning = (message: string) =>
  Effect.iterate(0, {
    while: () => true,
    body: (count) =>
      Effect.as(
        Effect.delay(write(`${clearLine}${frames[count % frames.length] ?? ""} ${message}`), "100 millis"),
        count + 1
      )
  })

/** Whether there is one already, of work that this is a part of. */
class IsSpinning extends Context.Reference<IsSpinning>()("gateway/cli/IsSpinning", { defaultValue: () => false }) {}

/** Shows `message` from half a second on, until the work ends in whatever way. Within work that has a spinner, that one is enough. */
export const withSpinner =
  (message: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(IsSpinning, (isSpinning) =>
      process.stderr.isTTY !== true || isSpinning
        ? work
        : Effect.scoped(
            Effect.gen(function* () {
              yield* Effect.addFinalizer(() => write(clearLine))
              yield* Effect.forkScoped(Effect.delay(turning(message), "400 millis"))
              return yield* Effect.provideService(work, IsSpinning, true)
            })
          )
    )
