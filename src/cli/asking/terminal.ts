/** Checks whether there is a person to ask. */
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import { CommonFlags } from "../flags/CommonFlags.ts"

/**
 * Checks whether questions can be asked: they are written to standard output and answered on standard input, so both
 * must be a terminal. With `--non-interactive` none is asked.
 */
export const canAsk: Effect.Effect<boolean, never, Terminal.Terminal> = Effect.flatMap(
  Effect.all([Terminal.Terminal, CommonFlags]),
  ([{ isTTY }, { isSilent }]) => Effect.map(isTTY, (isShown) => !isSilent && isShown && process.stdin.isTTY === true)
)
