/** A row of the classifier's table, and how it is held against the evidence. */
import type { ProviderClass } from "../../../contract/domain/Provider.ts"
import type { CooldownScope, Exhausts, FailureKind } from "./FailureKind.ts"
import { policies } from "./Policy.ts"
import type { Evidence, Mark } from "./Signal.ts"

export interface Conditions {
  /** Statuses of the row. An error inside a 200 without a status passes where text is asked for, too. */
  readonly status?: ReadonlyArray<number>
  /** One of these codes, types or reasons (lower case), … */
  readonly code?: ReadonlyArray<string>
  /** … or one of these phrases (lower case) in the provider's words. Patterns must be linear: no unbounded repetition. */
  readonly text?: ReadonlyArray<string | RegExp>
  /** None of these phrases. */
  readonly unless?: ReadonlyArray<string | RegExp>
  readonly mark?: Mark
  readonly class?: ReadonlyArray<ProviderClass>
  /** The provider's id begins with this. */
  readonly provider?: string
  readonly canRefresh?: boolean
}

/**
 * Time at which a window opens again although the upstream did not say: at midnight UTC, at midnight Pacific, or after
 * a number of ms.
 */
export type Reopens = "midnight_utc" | "midnight_pacific" | number

export interface Rule {
  readonly id: string
  readonly when: Conditions
  readonly kind: FailureKind
  /** The status it counts as, where the upstream's own misleads. */
  readonly countsAs?: number
  readonly scope?: CooldownScope
  readonly exhausts?: Exhausts
  readonly reopens?: Reopens
  /** Providers that answer like this. */
  readonly source: string
}

/**
 * Checks whether all of the text counts. A phrase that ends an account, or cools one over a complaint about the request, must
 * be at the beginning: further on upstreams repeat what the client sent.
 */
const trusts = (rule: Rule, { status }: Evidence): boolean => {
  const { scope, terminal } = policies[rule.kind]
  return terminal === null && !(scope === "connection" && (status === 400 || status === 422))
}

/**
 * Evidence of a row: a `status` that needs nothing more, a `code` (or a header, or a structured detail) with its status, or `words`.
 * An error inside a 200 without a status has words only.
 */
export type Basis = "status" | "code" | "words"

/** Returns the evidence of the row when every condition of it holds; else null. */
export const basisOf = (rule: Rule, evidence: Evidence): Basis | null => {
  const { when } = rule
  const asksWords = when.code !== undefined || when.text !== undefined || when.mark !== undefined
  if (when.status !== undefined) {
    if (evidence.status === null ? !asksWords : !when.status.includes(evidence.status)) return null
  }
  if (when.class !== undefined && !when.class.includes(evidence.accountClass)) return null
  if (when.provider !== undefined && !evidence.providerId.startsWith(when.provider)) return null
  if (when.canRefresh !== undefined && when.canRefresh !== evidence.canRefresh) return null
  if (when.mark !== undefined && !evidence.has(when.mark)) return null
  let basis: Basis = when.mark === undefined ? "status" : "code"
  if (when.code !== undefined || when.text !== undefined) {
    const { code = [], text = [] } = when
    const isCoded = evidence.codes.some((word) => code.includes(word))
    if (!isCoded && !evidence.says(text, trusts(rule, evidence) ? "anywhere" : "at_the_beginning")) return null
    basis = isCoded && evidence.status !== null ? "code" : "words"
  }
  return when.unless !== undefined && evidence.says(when.unless, "anywhere") ? null : basis
}
