/** Handle of a request that becomes a job of a provider, for a client that comes back for the result. */
import type * as Effect from "effect/Effect"
import type { JobTicket } from "../../subjects/mediaJobs/entity.ts"
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { JobStep } from "../../wire/PolledJob.ts"

/** A job that a provider has accepted before a restart, and at which connection. */
export interface AcceptedJob {
  readonly connectionId: string
  readonly provider: string
  /** The provider's name of the model. */
  readonly model: string
  readonly ticket: JobTicket
}

export interface JobHandle {
  /** The gateway's own id of the job. */
  readonly id: string
  /** Monotonic time at which it has to be over; null: that of the request. */
  readonly deadlineMs: number | null
  /** No client waits for it: the end of the gateway leaves it running at the provider. */
  readonly isDetached: boolean
  /** Job to be resumed, at that connection only; null: it is to be submitted. */
  readonly accepted: AcceptedJob | null
  /** The request was read, admitted and decided. */
  readonly opened: () => void
  /** Runs before it is sent to a provider. */
  readonly submitting: (target: Target) => Effect.Effect<void>
  /** Done before the next poll. `price`: that of the request. */
  readonly waiting: (
    target: Target,
    step: Extract<JobStep, { readonly _tag: "Waiting" }>,
    price: ModelPrice | null
  ) => Effect.Effect<void>
  /** It is over, with this answer of the provider. */
  readonly finished: (target: Target, answer: JsonObject) => Effect.Effect<void>
}
