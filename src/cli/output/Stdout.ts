/** Standard output for what is no line of text: an answer as it comes, or the bytes of a file. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { once } from "node:events"

export interface StdoutShape {
  /** Waits while the reader is slower. */
  readonly write: (part: string | Uint8Array) => Effect.Effect<void>
  readonly isTerminal: () => boolean
}

/** Standard output of the process. */
export class Stdout extends Context.Reference<Stdout>()("gateway/cli/output/Stdout", {
  defaultValue: (): StdoutShape => ({
    write: (part) =>
      Effect.suspend(() =>
        process.stdout.write(part) ? Effect.void : Effect.promise(() => once(process.stdout, "drain"))
      ),
    isTerminal: () => process.stdout.isTTY === true
  })
}) {}

/** Writes a part of a text or of a file. */
export const write = (part: string | Uint8Array): Effect.Effect<void> =>
  Effect.flatMap(Stdout, (stdout) => stdout.write(part))
