/** Counts of the present state of idempotent requests. */
import * as Context from "effect/Context"

export class IdempotencyStats extends Context.Tag("gateway/plane/cache/IdempotencyStats")<
  IdempotencyStats,
  {
    /** `activeKeys`: of requests in progress, and of answers that would be given again. */
    readonly current: () => { readonly activeKeys: number; readonly windowMs: number }
    /** Forgets the answers; requests in progress stay. Returns how many there were. */
    readonly clear: () => number
  }
>() {}
