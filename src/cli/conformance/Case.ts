/** Rows of `gateway conformance`: a question to a server, and what its answer has to be like by the wire's published contract. */
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Answer } from "./Answer.ts"

/** Request of a case, without the credential, which the wire's own header carries. */
export interface CaseRequest {
  readonly method: "GET" | "POST"
  /** Path below the server's address, with its query. */
  readonly path: string
  /** JSON, or the very text; null: none. */
  readonly body: Readonly<Record<string, unknown>> | string | null
}

/**
 * Reading of a status that is no success. `required`: the wire cannot be used without it. `feature`: a server may be without it, and says so by a
 * refusal. `error`: the case asks for a refusal.
 */
export type CaseKind = "required" | "feature" | "error"

export interface Case {
  /** The wire and what it is about: `chat.stream.usage`. */
  readonly id: string
  readonly wire: WireName
  readonly kind: CaseKind
  /** A sentence without its end: what the server does when it passes. */
  readonly title: string
  /** Page of the provider that says so. */
  readonly source: string
  readonly request: (model: string) => CaseRequest
  /** The request that follows on the answer; null: the answer has not what it needs. */
  readonly next?: (answer: Answer, model: string) => CaseRequest | null
  /** Credential that is sent instead of the caller's own. */
  readonly credential?: "wrong"
  /** Differences from the contract, as sentences without their ends; of the last answer where there are two. */
  readonly problems: (answer: Answer) => ReadonlyArray<string>
}

/** Outcome of a case. `not offered`: the server is without that part, or has no keys. */
export type Verdict = "pass" | "fail" | "not offered"

export interface Judged {
  readonly verdict: Verdict
  /** Reasons of a `fail` or `not offered`. */
  readonly reasons: ReadonlyArray<string>
}

/** Statuses of a server that has no such path or way. */
const absent: ReadonlySet<number> = new Set([404, 405, 501])
/** Statuses of a request that is refused as such. */
const refused: ReadonlySet<number> = new Set([400, 404, 405, 422, 501])

const judgedError = (each: Case, answer: Answer): Judged => {
  if (answer.status < 400) {
    return each.credential === "wrong"
      ? { verdict: "not offered", reasons: ["the server takes any key"] }
      : { verdict: "fail", reasons: [`the status is ${answer.status}, and a refusal is due`] }
  }
  const reasons = each.problems(answer)
  return { verdict: reasons.length === 0 ? "pass" : "fail", reasons }
}

/** Judges an answer. Pure. */
export const judge = (each: Case, answer: Answer): Judged => {
  if (each.kind === "error") return judgedError(each, answer)
  const isAbsent = (each.kind === "feature" ? refused : absent).has(answer.status)
  if (isAbsent) return { verdict: "not offered", reasons: [answer.refusal()] }
  if (answer.status < 200 || answer.status > 299) return { verdict: "fail", reasons: [answer.refusal()] }
  const reasons = each.problems(answer)
  return { verdict: reasons.length === 0 ? "pass" : "fail", reasons }
}

/** Cases of one wire. */
export const casesOf = (wire: WireName, all: ReadonlyArray<Omit<Case, "wire">>): ReadonlyArray<Case> =>
  all.map((each) => Object.assign({ wire }, each))
