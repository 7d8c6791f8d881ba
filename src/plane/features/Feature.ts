/** The interface of a feature: what it adds to the failover of a request. */
import type * as Effect from "effect/Effect"
import type { RequestEnd } from "../failover/FailoverEnd.ts"
import type { Work } from "../request/Exchange.ts"
import type { Instead } from "../request/KeptAnswer.ts"
import type { Bill, Served } from "../settle/Bill.ts"

/** End of a request, answered. `others`: further calls that were made for it and belong on its bill. */
export interface Answered {
  /** The request as it was sent last; a feature may have changed it. */
  readonly work: Work
  readonly end: RequestEnd
  readonly others: ReadonlyArray<Served>
  /** Absent: the client gets the answer. */
  readonly instead?: Instead
  /** Bytes that the client gets instead of the last bytes of the answer, or of all of a whole one; absent: those. */
  readonly replacement?: Buffer | string
}

export type Answer = (work: Work) => Effect.Effect<Answered>

export interface Feature {
  /** Wraps `next`: the features further in, and failover innermost. Called once, at start; the function it returns is hot. */
  readonly around: (next: Answer) => Answer
  /**
   * Hot: decides whether the feature has to act before the first call. Where no feature does, a request that its first call answers
   * does not pass through `around`. A feature without `concerns` only acts on the others.
   */
  readonly concerns?: (work: Work) => boolean
  /** Hot: called with each request before anything else, for what its answer says in any case. */
  readonly remark?: (work: Work) => void
  /** Hot: called once a request has ended and is settled. `bill` is over all its calls. */
  readonly ended?: (work: Work, end: RequestEnd, bill: Bill) => void
}
