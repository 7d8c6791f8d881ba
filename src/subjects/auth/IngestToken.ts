/** The token with which programs of this machine hand in what they captured (docs/inspector.md). */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

const leastChars = 16

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest()

/**
 * Makes the check whether a credential is the token, in constant time. Without a token of enough characters it is a
 * random one, which nothing matches.
 */
export const ingestTokenIn = (environment: ReadonlyMap<string, string>): ((given: string | null) => boolean) => {
  const token = environment.get("INSPECTOR_INTERNAL_INGEST_TOKEN") ?? ""
  const expected = hashOf(token.length >= leastChars ? token : randomBytes(32).toString("hex"))
  return (given) => given !== null && timingSafeEqual(expected, hashOf(given))
}
