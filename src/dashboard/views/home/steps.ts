/** Decides how far a new gateway is. Pure. */
import type { AnswerOf } from "../../api/client.ts"
import type { usageLogs } from "../../api/calls.generated.ts"

type Row = Pick<AnswerOf<typeof usageLogs>["logs"][number], "principal" | "outcome">

export interface Steps {
  readonly connections: number
  /** A request has come; that alone says nothing of an answer. */
  readonly isAsked: boolean
  readonly isAnswered: boolean
  /** A request has come from a caller that is neither the operator nor a session. */
  readonly hasClient: boolean
}

/** Rows that are looked at: a gateway with as many is not new. */
export const lookedAt = 20

export const stepsOf = (connections: number, rows: ReadonlyArray<Row>): Steps => {
  // The operator's tests of accounts are no questions.
  const questions = rows.filter(({ principal }) => principal !== "operator")
  const isOld = rows.length >= lookedAt
  return {
    connections,
    isAsked: questions.length > 0,
    isAnswered: isOld || questions.some(({ outcome }) => outcome === "completed"),
    hasClient: isOld || questions.some(({ principal }) => principal === "key" || principal === "anonymous")
  }
}

/** True while there is something left to do. */
export const isNew = ({ connections, hasClient, isAnswered }: Steps): boolean =>
  connections === 0 || !isAnswered || !hasClient
