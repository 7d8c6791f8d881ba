/** The record of a job: as it begins, as it is stored, and why it may fail. Pure. */
import { mayKeepContent, onFile, type OnFile, operatorsOwn } from "../../contract/domain/ContentPermission.ts"
import { knownCallerOf } from "../../subjects/auth/KnownCallers.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import type { MediaJob, JobKind, MediaJobKind, MediaJobProblem } from "../../subjects/mediaJobs/entity.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { secondsOf } from "../../wire/media/jobs/Outputs.ts"
import { music } from "../../wire/media/music/Codec.ts"
import { backgroundResponses } from "../../wire/responses/Codec.ts"
import { videos } from "../../wire/media/videos/Codec.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"
import { apiKeyIdOf, type Exchange } from "../request/Exchange.ts"
import { measuresOf } from "./JobViews.ts"

export const codecs: Readonly<Record<JobKind, WireCodec>> = { videos, music, responses: backgroundResponses }

/** Builds the request by which a job at its provider is polled: only its form matters. */
export const formOf = (
  { id, kind, model, request }: MediaJob,
  isKept: boolean
): Pick<Exchange, "body" | "path" | "wire"> => {
  if (kind === "responses") {
    const asked = { model, input: `response ${id}`, store: false }
    return { wire: "responses", path: "/v1/responses", body: Buffer.from(JSON.stringify(asked)) }
  }
  const asked = isKept ? (request ?? {}) : { ...request, prompt: unknownPrompt }
  return { wire: "chat", path: `/v1/${kind}/generations`, body: Buffer.from(JSON.stringify(asked)) }
}

/** Prompt of a job whose request is not stored. */
const unknownPrompt = "-"

export const notKept = {
  message:
    "The gateway was restarted before a provider had the job, and its API key has 'noLog': the request was not kept. Send it again.",
  type: "invalid_request_error",
  code: "request_not_kept"
}

/** The job as it is stored: without words where they may not be kept. What it has made is kept until it is fetched. */
const withoutWords = (job: MediaJob): MediaJob => {
  const { problem, request } = job
  const model = request?.["model"]
  return {
    ...job,
    request: { ...measuresOf(request ?? {}), ...(typeof model === "string" ? { model } : {}) },
    problem: problem === null ? null : { ...problem, message: "The provider did not make it." }
  }
}

export const kept = (principal: Principal, job: MediaJob): OnFile<MediaJob> =>
  onFile(mayKeepContent(principal), job, withoutWords)

/** Prepares a job that is over for storage, with a text of the gateway's own. */
export const ownWords = (job: MediaJob): OnFile<MediaJob> => onFile(operatorsOwn, job, withoutWords)

export const unknownFate = (provider: string | null): MediaJobProblem => ({
  message: `The gateway ended while the job was sent to ${provider ?? "a provider"}. Whether it runs there is not known, so that it was not sent again. Ask for it anew.`,
  type: "server_error",
  code: "submit_interrupted"
})
export const connectionGone = (provider: string | null): MediaJobProblem => ({
  message: `The connection that the job was submitted to at ${provider ?? "a provider"} was removed, or the request does not lead to it any more: how the job stands there cannot be asked. It was not submitted elsewhere.`,
  type: "invalid_request_error",
  code: "connection_gone"
})
export const keyGone: MediaJobProblem = {
  message: "The API key of the job was removed.",
  type: "invalid_request_error",
  code: "key_removed"
}

export const jobOf = (exchange: Exchange, kind: MediaJobKind, request: JsonObject): MediaJob => ({
  id: exchange.requestId,
  owner: apiKeyIdOf(exchange) ?? "",
  caller: knownCallerOf(exchange.principal),
  kind,
  requestId: exchange.requestId,
  model: typeof request["model"] === "string" ? request["model"] : "",
  request,
  status: "queued",
  progress: null,
  provider: null,
  connectionId: null,
  providerModel: null,
  ticket: null,
  outputs: null,
  seconds: null,
  problem: null,
  createdAtMs: exchange.receivedMs,
  submittedAtMs: null,
  endedAtMs: null,
  expiresAtMs: null
})

/** Members of a job that is over. */
export type JobEnd = Pick<MediaJob, "status"> & Partial<MediaJob>

export const over = (job: MediaJob, end: JobEnd, nowMs: number, keepMs: number): MediaJob => {
  const request = measuresOf(job.request ?? {})
  return { ...job, request, ticket: null, endedAtMs: nowMs, expiresAtMs: nowMs + keepMs, ...end }
}

export const secondsIn = (answer: JsonObject): string | null => {
  const length = secondsOf(answer["seconds"])
  return length === null ? null : String(length)
}
