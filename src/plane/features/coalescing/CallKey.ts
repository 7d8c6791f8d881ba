/** Computes the key that requests share whose answer is the same, byte for byte. Pure. */
import { createHash } from "node:crypto"
import type { Work } from "../../request/Exchange.ts"
import { answerFields, type AnswerWork } from "../sharing/AnswerFields.ts"

/**
 * Hashes everything that changes an answer, its route and session, every byte that the client sent, and the body as features have made it:
 * answers repeat settings of the one and are made from the other.
 */
export const callKey = (work: AnswerWork & Pick<Work, "body" | "sessionId">): string => {
  const { body, exchange, sessionId } = work
  const { fromPath, path } = exchange
  const hash = createHash("sha256").update(JSON.stringify([answerFields(work), path, fromPath, sessionId]))
  hash.update(String(exchange.body.length)).update(exchange.body)
  if (body !== exchange.body) hash.update(body)
  return hash.digest("base64url")
}
