/** A job as clients see it: OpenAI's video object, with the result in `data` once it is completed. Pure. */
import {
  isOver,
  type MediaJob,
  type JobKind,
  type MediaJobProblem,
  type MediaOutput
} from "../../subjects/mediaJobs/entity.ts"
import { secondsOf } from "../../wire/media/jobs/Outputs.ts"
import { isArray, isObject, type Json, type JsonObject, optional, parseJson, stringOr } from "../../wire/json/Json.ts"

/** Longer ones are no measures. */
const mostSizeChars = 40

const objects: Readonly<Record<JobKind, string>> = { videos: "video", music: "song", responses: "response" }

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000))

/** Bytes that only the provider's credential opens are fetched through the gateway. */
const shownOutput = (
  { id, kind }: MediaJob,
  { content, ...output }: MediaOutput,
  index: number,
  address: string
): MediaOutput =>
  content === undefined
    ? output
    : { url: `${address}/v1/${kind}/generations/${id}/content${index === 0 ? "" : `?index=${index}`}` }

type Asked = NonNullable<MediaJob["request"]>

const secondsIn = ({ duration, seconds: askedSeconds }: Asked): number | null => {
  const value = askedSeconds ?? duration
  return typeof value === "string" || typeof value === "number" ? secondsOf(value) : null
}

/** Picks the members of the request that are in OpenAI's object. The prompt is deleted as soon as the job is over. */
const askedOf = ({ kind, request }: MediaJob) => {
  const { prompt, size, ...asked } = request ?? {}
  const seconds = secondsIn(asked)
  return {
    prompt: typeof prompt === "string" ? prompt : null,
    ...(seconds === null ? {} : { seconds: String(seconds) }),
    ...(kind === "videos" ? { size: typeof size === "string" ? size : null, remixed_from_video_id: null } : {})
  }
}

/** Picks the members of the request that are stored for a job that is over: only its measures, not the prompt. */
export const measuresOf = ({ size, ...asked }: Asked): Asked => ({
  ...(typeof size === "string" && size.length <= mostSizeChars ? { size } : {}),
  ...optional("seconds", secondsIn(asked))
})

/** `address`: the gateway's own, as the client used it; empty: unknown. */
export const jobView = (job: MediaJob, address: string) => ({
  id: job.id,
  object: objects[job.kind],
  status: job.status,
  model: job.model,
  progress: job.status === "completed" ? 100 : (job.progress ?? 0),
  created_at: seconds(job.createdAtMs),
  completed_at: job.status === "completed" ? seconds(job.endedAtMs) : null,
  expires_at: seconds(job.expiresAtMs),
  ...askedOf(job),
  ...(job.seconds === null ? {} : { seconds: job.seconds }),
  ...(job.outputs === null
    ? {}
    : { data: job.outputs.map((output, index) => shownOutput(job, output, index, address)) }),
  error: isOver(job) ? job.problem : null
})

export const deletedView = ({ id, kind }: MediaJob) => ({ id, object: `${objects[kind]}.deleted`, deleted: true })

export interface JobPage {
  readonly jobs: ReadonlyArray<MediaJob>
  readonly hasMore: boolean
}

export const jobListView = ({ hasMore, jobs }: JobPage, address: string) => ({
  object: "list",
  data: jobs.map((job) => jobView(job, address)),
  has_more: hasMore,
  first_id: jobs[0]?.id ?? null,
  last_id: jobs.at(-1)?.id ?? null
})

const textOf = (value: Json | undefined): { readonly [name: string]: string } =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string")
      )
    : {}

/** Reads the outputs of a job from the answer of its last step. */
export const outputsIn = (answer: JsonObject): ReadonlyArray<MediaOutput> => {
  const { outputs } = answer
  return isArray(outputs) ? outputs.map(textOf) : []
}

/** Reads the reason of a failure from the error that a waiting client would have had. */
export const problemIn = (body: string): MediaJobProblem => {
  const parsed = parseJson(body)
  const error = isObject(parsed) && isObject(parsed["error"]) ? parsed["error"] : {}
  return {
    message: stringOr(error["message"]) ?? "The job failed.",
    type: stringOr(error["type"]),
    code: stringOr(error["code"])
  }
}
