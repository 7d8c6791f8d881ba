/** A client's session id as the usage log has it: as it was given, or a hash where it is long or looks like a credential. Pure. */
import { createHash } from "node:crypto"
import { withoutKeys } from "../../kernel/secrets/KeyShapes.ts"

const maxChars = 128
/** Texts that cannot be a credential for their form: ids and numbers. */
const plain = /^[\w.:@/ -]*$/

export const sessionOnFile = (sessionId: string): string => {
  const isShown = sessionId.length <= maxChars && plain.test(sessionId) && withoutKeys(sessionId) === sessionId
  return isShown ? sessionId : `sha256:${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)}`
}
