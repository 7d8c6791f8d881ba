/**
 * Reads an answer of the gemini wire; complete answers and stream chunks have the same shape.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { UpstreamProblem } from "../canonical/Event.ts"
import type { Stop } from "../canonical/Response.ts"
import { isArray, isObject, type JsonObject, objectOr, stringOr } from "../json/Json.ts"
import { camel, listOf } from "./Casing.ts"
import { blockedStop, decodeStop, failureOf } from "./Stop.ts"

export const candidatesOf = (body: JsonObject): ReadonlyArray<JsonObject> => {
  const { candidates } = body
  return isArray(candidates) ? candidates.filter(isObject) : []
}

/** The first answer; a request for several is never translated. */
export const firstCandidate = (body: JsonObject): JsonObject | undefined =>
  candidatesOf(body).find((candidate) => (candidate["index"] ?? 0) === 0)

export const partsOf = (candidate: JsonObject | undefined): ReadonlyArray<JsonObject> =>
  (listOf(objectOr(candidate?.["content"])["parts"]) ?? []).flatMap<JsonObject>((part) =>
    isObject(part) ? camel(part) : []
  )

const unsaid = "FINISH_REASON_UNSPECIFIED"

/** The finish reason; empty while there is none. */
export const finishOf = (candidate: JsonObject | undefined): string => {
  const reason = stringOr(candidate?.["finishReason"]) ?? ""
  return reason === unsaid ? "" : reason
}

/** Reads the reason for which the prompt was refused; null when it was not. */
export const blockReasonOf = (body: JsonObject): string | null =>
  stringOr(objectOr(body["promptFeedback"])["blockReason"])

/** `createTime`, which Vertex AI sends. */
export const createdMsOf = (body: JsonObject): number | null => {
  const time = Date.parse(stringOr(body["createTime"]) ?? "")
  return Number.isNaN(time) ? null : time
}

export const isError = (body: JsonObject): boolean => isObject(body["error"]) || typeof body["error"] === "string"

/** The failure a candidate ended with; null for a normal end, or none yet. */
export const candidateFailure = (candidate: JsonObject | undefined): UpstreamProblem | null =>
  failureOf(finishOf(candidate), stringOr(candidate?.["finishMessage"]))

/** Reads the stop of an answer, also of a blocked prompt; null while there is none. */
export const stopOf = (body: JsonObject, hasToolCalls: boolean): Stop | null => {
  const finish = finishOf(firstCandidate(body))
  if (finish !== "") return decodeStop(finish, hasToolCalls)
  const blocked = blockReasonOf(body)
  return blocked === null ? null : blockedStop(blocked)
}
