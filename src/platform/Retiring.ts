/** Manner in which a process leaves its place to another one that serves already (docs/workers.md). */
import * as Context from "effect/Context"

export interface Retirement {
  /** Time in ms for which open connections may still be used. */
  readonly idleMs: number
  /** Time in ms that running requests have. */
  readonly drainMs: number
}

/** Returns how this process leaves; null: no other one takes its place, and it ends as configured. */
export class Retiring extends Context.Reference<Retiring>()("gateway/platform/Retiring", {
  defaultValue: (): (() => Retirement | null) => () => null
}) {}
