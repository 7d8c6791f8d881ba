/** One request puts at most one account into a terminal state: further refusals of the same request may be about the request itself. */
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { condemns } from "../../resilience/failure/Policy.ts"
import type { Target } from "../resolve/ModelResolver.ts"

/** Weighs a failure of one request by those before it. */
export type WeighFailure = (target: Target, failure: Failure) => Failure

export const oneTerminal = (): WeighFailure => {
  let condemned: string | null = null
  return ({ account }, failure) => {
    if (!condemns(failure)) return failure
    const { id } = account.connection
    if (condemned !== null && condemned !== id) return { ...failure, suspicion: { ground: null, fingerprint: "" } }
    condemned = id
    return failure
  }
}
