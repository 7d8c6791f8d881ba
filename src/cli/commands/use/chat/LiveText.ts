/** Text that is written to the terminal as it comes, with nothing in it that a terminal would obey. */
import * as Effect from "effect/Effect"
import { write } from "../../../output/Stdout.ts"
import { lastOf, safely } from "./SafeText.ts"

export interface LiveText {
  readonly show: (piece: string) => Effect.Effect<void>
  /** Ends the last line, for what is printed below it. */
  readonly finishLine: Effect.Effect<void>
}

export const liveText = (): LiveText => {
  let held = ""
  let atLineStart = true
  return {
    show: (piece) => {
      if (piece === "") return Effect.void
      const safe = safely(held, piece)
      held = safe.held
      if (safe.shown === "") return Effect.void
      atLineStart = safe.shown.endsWith("\n")
      return write(safe.shown)
    },
    finishLine: Effect.suspend(() => {
      const end = lastOf(held)
      held = ""
      return atLineStart && end === "" ? Effect.void : write(`${end}\n`)
    })
  }
}
