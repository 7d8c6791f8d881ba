/** A sign of life on the terminal while something takes longer than half a second. Nothing is written where standard error is no terminal. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const clearLine = "\r\u001b[K"

const write = (text: string): Effect.Effect<void> => Effect.sync(() => void process.stderr.write(text))

/** Replaces the current line of standard error. */
export const redraw = (line: string): Effect.Effect<void> => write(`${clearLine}${line}`)

const turning = (message: string): Effect.Effect<never> => {
  let count = 0
  const step = Effect.suspend(() => redraw(`${frames[count++ % frames.length] ?? ""} ${message}`))
  return Effect.forever(Effect.delay(step, "100 millis"))
}

/** True when work that this is a part of shows a spinner or another sign of progress already. */
class IsSpinning extends Context.Reference<IsSpinning>()("gateway/cli/output/IsSpinning", {
  defaultValue: () => false
}) {}

/** Draws on the current line of standard error until the work ends in whatever way; the line is empty then. */
export const shownDuring = <A, E, R>(
  drawing: Effect.Effect<never>,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  // Not a scope around the work: what it opens may have to outlive this.
  Effect.acquireUseRelease(
    Effect.fork(Effect.interruptible(drawing)),
    () => Effect.provideService(work, IsSpinning, true),
    (fiber) => Effect.zipRight(Fiber.interrupt(fiber), write(clearLine))
  )

/** Shows `message` from half a second on, until the work ends in whatever way. Within work that has a spinner, that one is enough. */
export const withSpinner =
  (message: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(IsSpinning, (isSpinning) =>
      process.stderr.isTTY !== true || isSpinning
        ? work
        : shownDuring(Effect.delay(turning(message), "400 millis"), work)
    )
