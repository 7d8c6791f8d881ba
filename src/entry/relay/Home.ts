/**
 * Requests to models whose home is the owner, because something of them is known there by an id: a response that is stored or goes on from one that is,
 * one in the background, and a request with an idempotency key. Pure. What only looks like one is served there as well as elsewhere.
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import { hasKey } from "../../plane/features/idempotency/RequestIdentity.ts"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"

const isNotStored = /"store"\s{0,8}:\s{0,8}false/
const refersToStored = /"(?:previous_response_id|conversation|item_reference)"|"background"\s{0,8}:\s{0,8}true/

/** Checks whether a request of a wire has to be served where ids are known. */
export const isKeptById = (wire: WireName, headers: RequestHeaders, body: Buffer): boolean => {
  if (hasKey(headers)) return true
  if (wire !== "responses") return false
  const text = body.toString("latin1")
  return !isNotStored.test(text) || refersToStored.test(text)
}
