/**
 * Endpoints that take a request as a job: it is submitted, asked about until it is over, and its result may have to be fetched. An
 * upstream's codec describes that with plain functions (`WireCodec.job`); `plane/attempt/JobCall` makes the requests, waits, retries
 * and cancels. The answer of the last step is then read by the codec (`readAnswer`, `decodeResponse`) like any other answer.
 *
 * To add a provider: `submitted` makes a `JobTicket` of the answer to the submit, `polled` reads each answer to `ticket.poll`. The
 * provider's report of a failure becomes a `Failed` step: its status, code and type decide whether the next target is asked
 * (`resilience/failure`).
 */
import type { JobRequest, JobTicket } from "../subjects/mediaJobs/entity.ts"
import type { UpstreamProblem } from "./canonical/Event.ts"
import type { JsonObject } from "./json/Json.ts"

export type { JobRequest, JobTicket } from "../subjects/mediaJobs/entity.ts"

/** A body that was fetched. */
export interface FetchedBody {
  /** `Content-Type` without its parameters, lower case; empty where there was none. */
  readonly type: string
  readonly bytes: Buffer
}

export type JobStep =
  /** A job that is not over: ask again with `ticket` after a pause. `progress` from 0 to 100, null where it is not reported. */
  | {
      readonly _tag: "Waiting"
      readonly ticket: JobTicket
      readonly status: "queued" | "in_progress"
      readonly progress: number | null
    }
  /** Another request comes before the job (the submit after an upload): its answer goes to `submitted`. */
  | { readonly _tag: "Submit"; readonly request: JobRequest }
  /** The job is over and its result has to be fetched. `read` makes the answer of it; null when it is no result. */
  | {
      readonly _tag: "Fetch"
      readonly requests: ReadonlyArray<JobRequest>
      readonly read: (bodies: ReadonlyArray<FetchedBody>) => JsonObject | null
    }
  /** The job is over, and this is the answer. */
  | { readonly _tag: "Done"; readonly answer: JsonObject }
  | { readonly _tag: "Failed"; readonly problem: UpstreamProblem }

export interface PolledJob {
  /**
   * `place`: the address it was sent to. `next`: members of the request after this one (`EncodedRequest.next`). Null: the answer is no
   * job of this form.
   */
  readonly submitted: (answer: JsonObject, place: string, next?: JsonObject) => JobStep | null
  /** Reads an answer to a poll. Null: it has nothing on the job, which is polled again a few times. */
  readonly polled: (answer: JsonObject, ticket: JobTicket) => JobStep | null
  /** Milliseconds of the first pause between two polls, and of the longest; absent: the usual ones. */
  readonly pollMs?: { readonly first: number; readonly longest: number }
  /**
   * Ending of the host names that are all the provider's own, such as `.example.com`: with it a job may be asked about at another host
   * than the one it was submitted to, if both end in it and both are https.
   */
  readonly ownHosts?: string
}

/** An address below another one, whose query stays. */
export const below = (place: string, path: string): string => {
  const mark = place.indexOf("?")
  const address = mark < 0 ? place : place.slice(0, mark)
  return address.replace(/\/+$/, "") + path + (mark < 0 ? "" : place.slice(mark))
}

/** An address beside another one: `path` is resolved against it as a link would be, and its query stays. */
export const beside = (place: string, path: string): string => {
  const url = new URL(path, place)
  for (const [name, value] of new URL(place).searchParams) url.searchParams.append(name, value)
  return url.href
}
