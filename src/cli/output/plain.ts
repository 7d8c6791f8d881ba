/** Help and questions are coloured; a pipe, a file, or NO_COLOR gets plain text instead. */
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { stripVTControlCharacters } from "node:util"

/** Checks whether NO_COLOR is set to anything. */
export const noColor = Config.nonEmptyString("NO_COLOR").pipe(
  Effect.as(true),
  Effect.orElseSucceed(() => false)
)

/** Text without its colours; what moves the cursor stays. */
// oxlint-disable-next-line no-control-regex
export const withoutColours = (text: string): string => text.replaceAll(/\u001b\[[\d;]*m/g, "")

const stripped = (words: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  words.map((word) => (typeof word === "string" ? stripVTControlCharacters(word) : word))

/** Runs work whose words on stdout and stderr are coloured only where a person sees the colours. */
export const withPlainOutput = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const plain = yield* noColor
    const log = plain || process.stdout.isTTY !== true
    const error = plain || process.stderr.isTTY !== true
    return yield* Console.consoleWith((console) =>
      Effect.withConsole(work, {
        ...console,
        log: (...words) => console.log(...(log ? stripped(words) : words)),
        error: (...words) => console.error(...(error ? stripped(words) : words))
      })
    )
  })
