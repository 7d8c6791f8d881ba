/** Reads from a provider's answer why it refused a request. Pure. */
import type { RecordStatus } from "../../../contract/domain/TrafficRecord.ts"
import { isObject, parseJson } from "../../../wire/json/Json.ts"

/** A refusal is short: what is longer is something else. */
const maxReadChars = 65_536
const maxReasonChars = 500

/** An answer that holds nothing of a model: a provider's refusal, or none at all. */
export const isRefusal = (status: RecordStatus): boolean =>
  typeof status === "number" ? status >= 400 : status === "error"

/** The message of an answer that is an error in the form of any wire; null where it is none. */
export const reasonOf = (text: string): string | null => {
  if (text.length > maxReadChars) return null
  const parsed = parseJson(text)
  // One wire answers errors of streams in a list.
  const body = Array.isArray(parsed) ? parsed[0] : parsed
  if (!isObject(body)) return null
  const error = body["error"] ?? body["message"] ?? body["detail"]
  const message = isObject(error) ? error["message"] : error
  return typeof message === "string" && message !== "" ? message.slice(0, maxReasonChars) : null
}
