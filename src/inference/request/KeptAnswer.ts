/** What the usage row tells of a request that is answered without a call of its own. */
import type { AnsweredFrom, Outcome } from "../../domain/Usage.ts"

export interface UsageOutcome {
  readonly outcome: Outcome
  readonly status: number
  /** Short reason of a failure. */
  readonly error: string | null
}

/** What is answered without a call: by what was answered before, or together with another request. */
export interface Kept {
  /** As the client asked. */
  readonly requestedModel: string
  /** Null where no provider has answered. */
  readonly provider: string | null
  readonly model: string
  readonly ending: UsageOutcome
  readonly answeredFrom?: AnsweredFrom
}

/** What a client gets in the place of an answer that a feature does not give. Those further in hear the answer all the same. */
export interface Instead {
  readonly ending: UsageOutcome
  /** Run once the usage row is on file, and those further in have had the answer. */
  readonly answer: () => void
}
