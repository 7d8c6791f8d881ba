/** The log line of a request that reaches no handler: an unknown route, a wrong method, a foreign site. */
import * as Effect from "effect/Effect"
import { clean, pathOnly } from "../../observe/usage/telemetry/Summary.ts"

const maxReasonLength = 400

export interface Refusal {
  readonly requestId: string
  readonly method: string
  /** The request target; its query is not written. */
  readonly url: string
  readonly status: number
  /** A sentence for people. */
  readonly reason: string
}

/** A client's mistake is no matter for the owner; a foreign site or name may be one that he wants to allow. */
export const logRefusal = ({ method, reason, requestId, status, url }: Refusal): Effect.Effect<void> =>
  Effect.annotateLogs((status === 403 ? Effect.logWarning : Effect.logInfo)("request refused"), {
    requestId,
    method: clean(method),
    path: pathOnly(url),
    status,
    error: clean(reason, maxReasonLength)
  })
