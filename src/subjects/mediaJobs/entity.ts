/**
 * Jobs that make videos and music: the part that providers run, and the part that the gateway stores for clients that
 * come back for the result.
 */

import type { KnownCaller } from "../../contract/domain/Usage.ts"
import type { ModelPrice } from "../pricing/entity.ts"

/** A request about a job of a provider. Its address is absolute; the credential is sent to the provider's own origin only. */
export interface JobRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly url: string
  readonly body?: { readonly [key: string]: unknown }
}

/** All it takes to go on with a job that the provider has accepted. */
export interface JobTicket {
  /** The provider's own. */
  readonly id: string
  readonly poll: JobRequest
  /** Null where the provider has no way to cancel it. */
  readonly cancel: JobRequest | null
  /** Price of its model when it was first reserved; null: none was known. Absent: not fixed, as for older jobs. */
  readonly price?: ModelPrice | null
}

export const mediaJobKinds = ["videos", "music"] as const
export type MediaJobKind = (typeof mediaJobKinds)[number]

/** Kinds of stored jobs: those above, and responses that are made in the background. */
export const jobKinds = [...mediaJobKinds, "responses"] as const
export type JobKind = (typeof jobKinds)[number]

export const mediaJobStatuses = ["queued", "in_progress", "completed", "failed", "cancelled"] as const
export type MediaJobStatus = (typeof mediaJobStatuses)[number]

/** Reason for which a job failed, in OpenAI's form. */
export interface MediaJobProblem {
  readonly message: string
  readonly type: string | null
  readonly code: string | null
}

/**
 * Output of a job: `url` or `b64_json` as the client gets it, or an address of the provider that the gateway fetches
 * from.
 */
export interface MediaOutput {
  readonly url?: string
  readonly b64_json?: string
  readonly content?: string
}

/** Times are epoch milliseconds; null: it was never so. */
export interface MediaJob {
  readonly id: string
  /** Id of an API key; empty for callers without one. */
  readonly owner: string
  /** Caller without a key who made it; null: not known, or a key did. */
  readonly caller: KnownCaller | null
  readonly kind: JobKind
  /** Id of its usage row. */
  readonly requestId: string
  /** Model as the client named it. */
  readonly model: string
  /** The client's request, which it is gone on with after a restart; of a job that is over its measures alone, null without any. */
  readonly request: { readonly [key: string]: unknown } | null
  readonly status: MediaJobStatus
  /** Progress from 0 to 100; null where the provider does not report it. */
  readonly progress: number | null
  /** Provider that has the job; null before one was submitted. */
  readonly provider: string | null
  readonly connectionId: string | null
  /** The provider's name of the model. */
  readonly providerModel: string | null
  /** Null: no provider has accepted it, or it is over. */
  readonly ticket: JobTicket | null
  /** Null: it is not completed. */
  readonly outputs: ReadonlyArray<MediaOutput> | null
  /** Length of the output, where the provider reports it. */
  readonly seconds: string | null
  readonly problem: MediaJobProblem | null
  readonly createdAtMs: number
  /** Time at which it was last sent to a provider; without a ticket it is not known whether that one has it. */
  readonly submittedAtMs: number | null
  readonly endedAtMs: number | null
  /** Time at which it and its result are deleted; null while it runs. */
  readonly expiresAtMs: number | null
}

export const isOver = ({ status }: Pick<MediaJob, "status">): boolean => status !== "queued" && status !== "in_progress"
