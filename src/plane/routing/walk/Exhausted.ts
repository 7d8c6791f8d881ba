/**
 * Tracks the targets that one request need not call any more, because an earlier failure of it shows that they would
 * fail too.
 */
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { policyOf } from "../../resilience/failure/Policy.ts"
import type { Target } from "../resolve/ModelResolver.ts"

export interface Exhausted {
  readonly add: (target: Target, failure: Failure) => void
  readonly covers: (target: Target) => boolean
  /** Forgets failures that may have passed, after a wait: their targets may be called again. */
  readonly forgetPassing: () => void
}

/** Kinds of failure whose cooldown is short and has nothing to do with quota, credentials or the model: a quota share waits for them. */
const waitedFor: ReadonlySet<string> = new Set(["rate_limit", "transient", "capacity", "network"])

/**
 * Checks, by the kind of the failure behind a cooldown, whether it is soon over; the kind is null where none is known.
 */
export const isSoonOver = (kind: string | null): boolean => kind !== null && waitedFor.has(kind)

const connectionOf = ({ account }: Target): string => `connection ${account.connection.id}`
const modelOf = ({ account, model }: Target): string => `model ${account.spec.id} ${model}`
const providerOf = ({ account }: Target): string => `provider ${account.spec.id}`

/** Checks whether a later retry may succeed. */
export const passes = (failure: Failure): boolean => failure.kind === "rate_limit" || policyOf(failure).retrySameTarget

export const makeExhausted = (): Exhausted => {
  /** Failed connections, models and providers, with whether the failure may pass. */
  let keys: Map<string, boolean> | null = null
  /** Targets whose own failure does not pass during this request. */
  let done: Set<Target> | null = null
  return {
    add: (target, failure) => {
      const forGood = !passes(failure)
      if (forGood) (done ??= new Set()).add(target)
      const { exhausts } = failure
      if (exhausts === "nothing") return
      keys ??= new Map()
      const key =
        exhausts === "connection" ? connectionOf(target) : exhausts === "model" ? modelOf(target) : providerOf(target)
      keys.set(key, !forGood)
    },
    covers: (target) =>
      done?.has(target) === true ||
      (keys !== null && (keys.has(connectionOf(target)) || keys.has(modelOf(target)) || keys.has(providerOf(target)))),
    forgetPassing: () => {
      for (const [key, isTransient] of keys ?? []) if (isTransient) keys?.delete(key)
    }
  }
}
