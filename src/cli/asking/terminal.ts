/** Whether there is a person to ask. */
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"

/** Questions are written to standard output and answered on standard input: both must be a terminal. */
export const canAsk: Effect.Effect<boolean, never, Terminal.Terminal> = Effect.flatMap(Terminal.Terminal, ({ isTTY }) =>
  Effect.map(isTTY, (isShown) => isShown && process.stdin.isTTY === true)
)
