/** Reading a secret from standard input, as `--api-key-stdin` and `--key-stdin` do. */
import * as Effect from "effect/Effect"

const maxBytes = 65_536

/** All of standard input, at most 64 KiB; empty when it is closed. */
export const readSecret: Effect.Effect<string> = Effect.promise(async () => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  try {
    for await (const chunk of process.stdin) {
      const part = Buffer.from(chunk)
      chunks.push(part)
      bytes += part.length
      if (bytes > maxBytes) break
    }
  } catch {
    // A descriptor that is closed gives nothing.
  }
  return Buffer.concat(chunks).toString("utf8")
})
