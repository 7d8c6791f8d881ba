/** Reads piped input of a command. */
import * as Effect from "effect/Effect"
import { fstatSync } from "node:fs"
import { BadArgument } from "../Failure.ts"
import { note } from "../output/Output.ts"

/** Kind of standard input. `pipe` and `file` are of a shell; `socket` is how programs give one to those they start. */
type Kind = "terminal" | "pipe" | "file" | "socket" | "none"

const kindOf = (): Kind => {
  if (process.stdin.isTTY === true) return "terminal"
  try {
    const facts = fstatSync(0)
    return facts.isFIFO() ? "pipe" : facts.isFile() ? "file" : facts.isSocket() ? "socket" : "none"
  } catch {
    return "none"
  }
}

const tooLarge = (maxBytes: number): BadArgument =>
  new BadArgument({ message: `Standard input is larger than ${Math.floor(maxBytes / 1_048_576)} MiB.` })

/** All of standard input; empty when it is closed. */
export const readInput = (maxBytes: number): Effect.Effect<Buffer, BadArgument> =>
  Effect.tryPromise({
    try: async () => {
      const chunks: Array<Buffer> = []
      let bytes = 0
      for await (const chunk of process.stdin) {
        const part = Buffer.from(chunk)
        chunks.push(part)
        bytes += part.length
        if (bytes > maxBytes) throw tooLarge(maxBytes)
      }
      return Buffer.concat(chunks)
    },
    // A descriptor that is closed gives nothing.
    catch: (error) => (error instanceof BadArgument ? error : null)
  }).pipe(Effect.catchAll((error) => (error === null ? Effect.succeed(Buffer.alloc(0)) : Effect.fail(error))))

/** Waits for the first byte, or the end, within the time. */
const begins = Effect.async<boolean>((resume) => {
  const begun = (): void => resume(Effect.succeed(true))
  process.stdin.once("readable", begun)
  process.stdin.once("end", begun)
  process.stdin.once("error", begun)
  return Effect.sync(() => {
    process.stdin.off("readable", begun)
    process.stdin.off("end", begun)
    process.stdin.off("error", begun)
  })
})

const patience = "3 seconds"

/**
 * Reads the piped input beside arguments of the command; null when there can be none. A program that starts this one may leave its socket
 * open and empty, so the wait on sockets ends after a while, and a note says so.
 */
export const readBeside = (maxBytes: number): Effect.Effect<Buffer | null, BadArgument> =>
  Effect.gen(function* () {
    const kind = kindOf()
    if (kind === "terminal" || kind === "none") return null
    if (kind === "socket") {
      const hasBegun = yield* Effect.timeoutTo(begins, {
        duration: patience,
        onSuccess: (begun) => begun,
        onTimeout: () => false
      })
      if (!hasBegun) {
        yield* note("Nothing came on standard input within 3 seconds, so it is left out; '-' as a word waits for it.")
        process.stdin.destroy()
        return null
      }
    }
    const bytes = yield* readInput(maxBytes)
    return bytes.length === 0 ? null : bytes
  })

export const isTerminal = (): boolean => process.stdin.isTTY === true
