/**
 * Failures shown by text alone, until they are confirmed: a second, different request that meets the same makes it certain. In memory
 * and bounded; a good answer ends a suspicion.
 */
import * as Struct from "effect/Struct"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { Failure } from "./FailureKind.ts"

export interface Suspicions {
  /** The failure without its suspicion, when another request met the same before. */
  readonly weigh: (connectionId: string, model: string, failure: Failure) => Failure
  /** The connection answered well. */
  readonly clear: (connectionId: string) => void
  /** Hot: counts the changes. */
  readonly changes: () => number
}

/** Connections under suspicion, and suspicions of each; beyond it the oldest goes. */
const maxConnections = 10_000
const maxEach = 64

/** The failure as something else has shown it to be certain. */
export const proven = (failure: Failure): Failure => Struct.omit(failure, "suspicion")

export const makeSuspicions = (): Suspicions => {
  /** Suspicions by connection: kind (and model, where it is the model's) → the request that met it. */
  const known = new LruMap<string, LruMap<string, string>>({ capacity: maxConnections })
  let changes = 0
  return {
    weigh: (connectionId, model, failure) => {
      const { kind, scope, suspicion } = failure
      if (suspicion === undefined || suspicion.fingerprint === "") return failure
      const what = scope === "model" ? `${kind} ${model}` : kind
      const suspicions = known.peek(connectionId) ?? new LruMap<string, string>({ capacity: maxEach })
      const before = suspicions.peek(what)
      if (before !== undefined && before !== suspicion.fingerprint) return proven(failure)
      if (before === undefined) changes += 1
      suspicions.set(what, suspicion.fingerprint)
      known.set(connectionId, suspicions)
      return failure
    },
    clear: (connectionId) => {
      if (known.delete(connectionId)) changes += 1
    },
    changes: () => changes
  }
}

/** Lists the effects of a failure in turn: first the certain one, then the suspected one. */
export const partsOf = (failure: Failure): ReadonlyArray<Failure> => {
  const ground = failure.suspicion?.ground ?? null
  return ground === null ? [failure] : [ground, failure]
}
