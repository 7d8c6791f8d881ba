/** JSON that a command is given by a file or by standard input. */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { BadArgument } from "../Failure.ts"

/** Reads the file named by a flag, or standard input for `-`. */
export const readJson = (flag: string, file: string): Effect.Effect<unknown, BadArgument> =>
  Effect.try({
    try: () => readFileSync(file === "-" ? 0 : file, "utf8"),
    catch: () => new BadArgument({ message: `${flag}: '${file}' cannot be read.` })
  }).pipe(
    Effect.flatMap((text) =>
      Effect.try({
        try: (): unknown => JSON.parse(text),
        catch: () => new BadArgument({ message: `${flag}: '${file}' does not hold valid JSON.` })
      })
    )
  )
