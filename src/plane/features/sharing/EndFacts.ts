/** Facts for other requests about the end of the one whose answer they share. Pure. */
import { describe } from "../../../contract/domain/Errors.ts"
import type { RequestEnd } from "../../failover/FailoverEnd.ts"
import type { UsageOutcome } from "../../request/KeptAnswer.ts"
import type { Answered } from "../Feature.ts"

export interface EndFacts {
  readonly ending: UsageOutcome
  /** Null where no provider has answered. */
  readonly provider: string | null
  readonly model: string
}

const failed = (status: number, error: string): EndFacts => ({
  ending: { outcome: "failed", status, error },
  provider: null,
  model: ""
})

export const clientLeft: UsageOutcome = { outcome: "aborted", status: 499, error: "client_left" }

const endingOf = (result: Extract<RequestEnd, { _tag: "Answered" }>["result"]): UsageOutcome => {
  switch (result._tag) {
    case "Completed":
      return { outcome: "completed", status: 200, error: null }
    case "Broken":
      return { outcome: "failed", status: 200, error: result.failure.reason }
    case "Aborted":
      return clientLeft
  }
}

const factsOf = (end: RequestEnd): EndFacts => {
  switch (end._tag) {
    case "Answered": {
      const { account, model } = end.target
      return { ending: endingOf(end.result), provider: account.spec.id, model }
    }
    case "Kept": {
      const { ending, model, provider } = end.kept
      return { ending, model, provider }
    }
    case "Failed":
      return failed(end.failure.status, end.failure.reason)
    case "Unavailable":
      return failed(end.unready.status, end.unready.code)
    case "Refused": {
      const { code, status } = describe(end.error)
      return failed(status, code)
    }
  }
}

export const endFacts = ({ end, instead }: Pick<Answered, "end" | "instead">): EndFacts =>
  instead === undefined ? factsOf(end) : { ...factsOf(end), ending: instead.ending }
