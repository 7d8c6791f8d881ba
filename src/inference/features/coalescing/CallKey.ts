/** What two requests have in common whose answer is the same: everything that changes it. Pure. */
import { createHash } from "node:crypto"
import type { RequestHeaders } from "../../../auth/Credentials.ts"
import type { Work } from "../../request/Exchange.ts"

/** Headers that the gateway or an upstream of the client's wire reads. */
const changesAnswer = /^(?:x-gateway-.*|anthropic-.*|openai-.*|x-session-id|x_session_id|x-codex-session-id)$/
/** Added to the answer of each client by itself. */
const ofTheClient = "x-gateway-progress"

const read = (headers: RequestHeaders): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(headers)
    .filter(([name]) => name !== ofTheClient && changesAnswer.test(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))

/**
 * Of a caller, its route, the headers that matter, every byte that it sent, and what features have made of them: answers repeat settings of
 * the one and are made from the other.
 */
export const callKey = ({ body, exchange, owner }: Work): string => {
  const { fromPath, headers, path, wire } = exchange
  const hash = createHash("sha256").update(JSON.stringify([owner, wire, path, fromPath, read(headers)]))
  hash.update(String(exchange.body.length)).update(exchange.body)
  if (body !== exchange.body) hash.update(body)
  return hash.digest("base64url")
}
