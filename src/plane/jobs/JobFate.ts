/** Decides what becomes of a job once its request has ended. Pure. */
import type { AcceptedJob } from "../request/JobHandle.ts"

export interface EndedRequest {
  /** Status of the answer that the request was given. */
  readonly status: number
  /** A provider was asked in it. */
  readonly hasCalled: boolean
  readonly isCancelled: boolean
  /** The gateway stops. */
  readonly isStopping: boolean
  /** The job had time left. */
  readonly isInTime: boolean
  /** The job had been accepted by a provider before. */
  readonly accepted: AcceptedJob | null
}

/**
 * `at_start`: the gateway ended before a provider was asked, and the next start goes on. `soon`: the connection could not be called now.
 * `gone`: the connection that the job was submitted to is not there any more.
 */
export type JobFate = "at_start" | "soon" | "completed" | "cancelled" | "gone" | "failed"

export const fateOf = ({ accepted, hasCalled, isCancelled, isInTime, isStopping, status }: EndedRequest): JobFate => {
  if (isStopping && !hasCalled && status !== 200) return "at_start"
  const isUncalled = accepted !== null && !hasCalled
  if (isUncalled && (status === 503 || status === 429) && !isCancelled && isInTime) return "soon"
  if (status === 200) return "completed"
  if (isCancelled) return "cancelled"
  return isUncalled && status === 404 ? "gone" : "failed"
}
