/** Names a request to a model by its question, so that a client's retries of it are recognised. Pure. */
import { createHash } from "node:crypto"
import type { Format } from "./Format.ts"

const keyChars = 12

/** Clients change these from one attempt to the next, which asks the same all the same. */
const unasked: ReadonlySet<string> = new Set(["metadata", "stream", "stream_options"])

/** First 12 hexadecimal digits of the SHA-256 of the request without its metadata and without whether it is streamed. */
export const promptKeyOf = ({ apiKind, body }: Format): string => {
  const asked = Object.fromEntries(Object.entries(body).filter(([name]) => !unasked.has(name)))
  return createHash("sha256")
    .update(`${apiKind}\n${JSON.stringify(asked)}`)
    .digest("hex")
    .slice(0, keyChars)
}
