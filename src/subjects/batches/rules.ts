/** Rules of batches: their requests, their states, and their form for clients. Pure. */
import * as Either from "effect/Either"
import { type Batch, type BatchEnd, type BatchProblem, isOver } from "./entity.ts"
import { isObject, type Json, type JsonObject } from "../../wire/json/Json.ts"
import { endpoints } from "./Endpoints.ts"

/** https://platform.openai.com/docs/api-reference/batch/create */
export const maxLines = 50_000
const maxMetadata = 16
const maxNameChars = 64
const maxValueChars = 512
const windowMs = 86_400_000
const leastKeptSeconds = 3600
const mostKeptSeconds = 2_592_000
const mostListed = 100
const usuallyListed = 20

export interface Problem {
  readonly param: string
  readonly message: string
}

type Read<A> = Either.Either<A, Problem>

const wrong = (param: string, what: string): Either.Either<never, Problem> =>
  Either.left({ param, message: `'${param}' ${what}.` })

export interface BatchRequest {
  readonly inputFileId: string
  readonly endpoint: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly outputKeptMs: number | null
}

const known = new Set(["input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"])

const metadataOf = (given: Json | undefined): Read<BatchRequest["metadata"]> => {
  if (given === undefined || given === null) return Either.right(null)
  const entries = isObject(given) ? Object.entries(given) : []
  if (!isObject(given) || entries.length > maxMetadata) {
    return wrong("metadata", `must be an object of at most ${maxMetadata} entries`)
  }
  const metadata: Record<string, string> = {}
  for (const [name, value] of entries) {
    if (name.length > maxNameChars || typeof value !== "string" || value.length > maxValueChars) {
      return wrong(
        `metadata.${name.slice(0, maxNameChars)}`,
        `must have a name of at most ${maxNameChars} characters and be a text of at most ${maxValueChars}`
      )
    }
    metadata[name] = value
  }
  return Either.right(metadata)
}

const keptOf = (given: Json | undefined): Read<number | null> => {
  if (given === undefined || given === null) return Either.right(null)
  const { anchor, seconds } = isObject(given) ? given : {}
  if (anchor !== "created_at") return wrong("output_expires_after.anchor", "must be created_at")
  const isFit = Number.isInteger(seconds) && Number(seconds) >= leastKeptSeconds && Number(seconds) <= mostKeptSeconds
  return isFit
    ? Either.right(Number(seconds) * 1000)
    : wrong("output_expires_after.seconds", `must be a whole number from ${leastKeptSeconds} to ${mostKeptSeconds}`)
}

export const batchRequestOf = (body: JsonObject): Read<BatchRequest> => {
  const unknown = Object.keys(body).find((name) => !known.has(name))
  if (unknown !== undefined) return wrong(unknown.slice(0, maxNameChars), "is not a field of a batch")
  const { completion_window: window, endpoint, input_file_id: inputFileId } = body
  if (typeof inputFileId !== "string" || inputFileId === "") {
    return wrong("input_file_id", "must be the id of an uploaded file")
  }
  if (typeof endpoint !== "string" || !endpoints.has(endpoint)) {
    return wrong("endpoint", `must be one of: ${[...endpoints.keys()].join(", ")}`)
  }
  if (window !== "24h") return wrong("completion_window", "must be 24h")
  return Either.flatMap(metadataOf(body["metadata"]), (metadata) =>
    Either.map(keptOf(body["output_expires_after"]), (outputKeptMs) => ({
      inputFileId,
      endpoint,
      metadata,
      outputKeptMs
    }))
  )
}

export interface BatchListQuery {
  readonly after: string | null
  readonly limit: number
}

export const batchListOf = (query: URLSearchParams): Read<BatchListQuery> => {
  const limit = query.get("limit") ?? String(usuallyListed)
  return /^\d{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= mostListed
    ? Either.right({ after: query.get("after"), limit: Number(limit) })
    : wrong("limit", `must be a whole number from 1 to ${mostListed}`)
}

export const newBatch = (
  id: string,
  by: Pick<Batch, "caller" | "owner">,
  request: BatchRequest,
  nowMs: number
): Batch => ({
  id,
  ...by,
  ...request,
  status: "validating",
  ending: null,
  createdAtMs: nowMs,
  inProgressAtMs: null,
  expiresAtMs: nowMs + windowMs,
  finalizingAtMs: null,
  completedAtMs: null,
  failedAtMs: null,
  expiredAtMs: null,
  cancellingAtMs: null,
  cancelledAtMs: null,
  total: 0,
  completed: 0,
  failed: 0,
  problems: [],
  outputFileId: null,
  errorFileId: null,
  provider: null
})

export const begun = (batch: Batch, total: number, nowMs: number): Batch => ({
  ...batch,
  status: "in_progress",
  inProgressAtMs: nowMs,
  total
})

export const cancelling = (batch: Batch, nowMs: number): Batch => ({
  ...batch,
  status: "cancelling",
  cancellingAtMs: nowMs
})

export const mayCancel = ({ status }: Batch): boolean => status === "validating" || status === "in_progress"

/** All that will become of its lines is known, and is nowhere but on the disk of the gateway. */
export const finalizing = (
  batch: Batch,
  how: { readonly ending: BatchEnd; readonly problems: ReadonlyArray<BatchProblem> },
  files: Pick<Batch, "outputFileId" | "errorFileId">,
  nowMs: number
): Batch => ({
  ...batch,
  ...how,
  ...files,
  ...(batch.status === "cancelling" ? {} : { status: "finalizing", finalizingAtMs: nowMs })
})

const atOf = {
  completed: "completedAtMs",
  failed: "failedAtMs",
  expired: "expiredAtMs",
  cancelled: "cancelledAtMs"
} as const

/** Ends a batch whose files are written. */
export const ended = (
  batch: Batch,
  ending: BatchEnd,
  { completed, failed }: Pick<Batch, "completed" | "failed">,
  nowMs: number
): Batch => ({
  ...batch,
  status: ending,
  ending,
  [atOf[ending]]: nowMs,
  completed,
  failed,
  outputFileId: completed > 0 ? batch.outputFileId : null,
  errorFileId: failed > 0 ? batch.errorFileId : null
})

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000))

/** OpenAI's object; times in whole seconds. */
export const viewOf = (batch: Batch) => ({
  id: batch.id,
  object: "batch",
  endpoint: batch.endpoint,
  errors: batch.problems.length === 0 ? null : { object: "list", data: batch.problems },
  input_file_id: batch.inputFileId,
  completion_window: "24h",
  status: batch.status,
  output_file_id: isOver(batch) ? batch.outputFileId : null,
  error_file_id: isOver(batch) ? batch.errorFileId : null,
  created_at: seconds(batch.createdAtMs),
  in_progress_at: seconds(batch.inProgressAtMs),
  expires_at: seconds(batch.expiresAtMs),
  finalizing_at: seconds(batch.finalizingAtMs),
  completed_at: seconds(batch.completedAtMs),
  failed_at: seconds(batch.failedAtMs),
  expired_at: seconds(batch.expiredAtMs),
  cancelling_at: seconds(batch.cancellingAtMs),
  cancelled_at: seconds(batch.cancelledAtMs),
  request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
  metadata: batch.metadata
})
