/** Reads a provider's report of a failed job as an error of its wire. */
import type { UpstreamProblem } from "../../canonical/Event.ts"
import { isObject, type Json, stringOr } from "../../json/Json.ts"

const maxMessageChars = 2_000

/** Status of a job that failed by its request: another provider may still answer, but this one has not failed. */
const requestStatus = 400
const providerStatus = 502

/** `isOfRequest`: whether the provider documents the code (or, where it has none, the text) as a fault of the request. */
export const jobProblem = (
  error: Json | undefined,
  isOfRequest: (code: string, message: string) => boolean,
  fallback = "The provider reported that the job failed."
): UpstreamProblem => {
  const told = isObject(error) ? error : {}
  const code = stringOr(told["code"]) ?? (typeof told["code"] === "number" ? String(told["code"]) : null)
  const message = stringOr(error) ?? stringOr(told["message"]) ?? stringOr(told["detail"]) ?? ""
  return {
    status: isOfRequest(code ?? "", message) ? requestStatus : providerStatus,
    message: message === "" ? fallback : message.slice(0, maxMessageChars),
    type: stringOr(told["type"]),
    code
  }
}
