/** What a feature may do with a request beside the ordinary failover. */
import type * as Effect from "effect/Effect"
import type { FailoverEnd } from "../failover/FailoverEnd.ts"
import type { Work } from "../request/Exchange.ts"
import type { Served } from "../settle/Bill.ts"

/** How a request ended, with what else was done for it: `others` belong on its bill beside who answered. */
export interface Answered {
  /** The request that was asked in the end. */
  readonly work: Work
  readonly end: FailoverEnd
  readonly others: ReadonlyArray<Served>
}

export type Answer = (work: Work) => Effect.Effect<Answered>

export interface Feature {
  /** Wraps the answering of a request. Called once, at start; what it returns is hot. */
  readonly around: (next: Answer) => Answer
  /**
   * Hot: whether it has to act before the first call. A feature without this only acts on requests that the first call has not answered.
   */
  readonly concerns?: (work: Work) => boolean
  /** Hot: a request has ended and is settled. */
  readonly ended?: (work: Work, end: FailoverEnd) => void
}
