/** Facts for the usage row of a request that is answered without a call of its own. */
import type { AnsweredFrom, Outcome } from "../../contract/domain/Usage.ts"

export interface UsageOutcome {
  readonly outcome: Outcome
  readonly status: number
  /** Short reason of a failure. */
  readonly error: string | null
}

/** Answer without a call: a stored one, or one shared with another request. */
export interface Kept {
  /** Model as the client asked for it. */
  readonly requestedModel: string
  /** Null where no provider has answered. */
  readonly provider: string | null
  readonly model: string
  readonly ending: UsageOutcome
  readonly answeredFrom?: AnsweredFrom
}

/** Replacement for an answer that a feature does not give. The features further in get the answer all the same. */
export interface Instead {
  readonly ending: UsageOutcome
  /** Run once the usage row is on file, and those further in have had the answer. */
  readonly answer: () => void
}
