/** The log line of a request that reaches no handler: an unknown route, a wrong method, a foreign site. */
import * as Effect from "effect/Effect"
import { clean, pathOnly } from "../usage/telemetry/Summary.ts"

export interface Refusal {
  readonly requestId: string
  readonly method: string
  /** The request target; its query is not written. */
  readonly url: string
  readonly status: number
  readonly reason: string
}

export const logRefusal = ({ method, reason, requestId, status, url }: Refusal): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning("request refused"), {
    requestId,
    method: clean(method),
    path: pathOnly(url),
    status,
    error: clean(reason)
  })
