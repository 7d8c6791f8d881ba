/** Checks of an answer. */
import type { StructuredOutput } from "../../../../contract/domain/AnswerRules.ts"
import { GuardrailBlocked } from "../../../../contract/domain/Errors.ts"
import type { Finding, TextGuard } from "./TextGuard.ts"
import type { Reading } from "./Reading.ts"

/** Treatment of personal data: it is replaced, it is only counted, or the answer is not given. */
export type TextMode = "redact" | "warn" | "block"

/** Decision on an answer, for metrics. `unread`: a part of it could not be looked at. */
export type AnswerAction = TextMode | "unread"

/**
 * Result of comparing an answer with its JSON schema: it matches, it does after it was asked for again, it does not.
 */
export type SchemaOutcome = "ok" | "repaired" | "failed"

export interface AnswerFacts {
  /** Findings in the answer so far. */
  readonly found: number
  /** Null: not checked, or nothing can be said. */
  readonly schema: SchemaOutcome | null
}

export interface AnswerGuard {
  /** Null: texts are not looked at. */
  readonly texts: {
    readonly guard: TextGuard
    readonly mode: TextMode
    /** Characters that may be looked at in all of the answer; absent: any number. */
    readonly mostChars?: number
  } | null
  /** Runs something when the event loop has done what is ready now. */
  readonly later: (run: () => void) => void
  /** Checks whether a tool may be called, by the client's name of it; null: all may. */
  readonly mayCall: ((name: string) => boolean) | null
  /** Treatment of answers that have a JSON schema. */
  readonly structured: StructuredOutput
  /** Value of `X-Gateway-Guardrail`; null: no header. */
  readonly header: (facts: AnswerFacts) => string | null
  /** Receives each decision. `detector`: that of the finding, `tool-policy`, or `answer` where a part is unread. */
  readonly decided: (detector: string, action: AnswerAction) => void
}

/** One answer, as it is looked at. */
export interface Watch {
  readonly guard: TextGuard | null
  readonly found: (finding: Finding) => void
  readonly unread: () => void
  readonly read: (reading: Reading) => void
  readonly facts: () => AnswerFacts
  readonly noteSchema: (outcome: SchemaOutcome) => void
  /** Returns the reason for which the answer may not be given; null while it may. */
  readonly blocked: () => GuardrailBlocked | null
}

const personalData =
  "The answer of the model has personal data in it, and this gateway does not pass it on (PII_RESPONSE_SANITIZATION_MODE)."
const unreadable = "A part of the answer could not be checked for personal data (PII_RESPONSE_SANITIZATION_MODE)."
const tooMuch =
  "The answer has more text than the patterns of this gateway can be looked for in (customPatterns of /api/settings/guardrails)."
const forbiddenTool =
  "The model has called a tool that was not offered to it, or that this gateway does not allow (toolPolicy)."

export const watchAnswer = ({ decided, mayCall, texts }: AnswerGuard): Watch => {
  let found = 0
  let schema: SchemaOutcome | null = null
  let blocked: GuardrailBlocked | null = null
  const block = (message: string): void => {
    blocked ??= new GuardrailBlocked({ code: "SECURITY_002", message })
  }
  /** Counts what is looked at. Beyond the budget an answer is given where findings are only counted, and else not. */
  const within = ({ guard, mode, mostChars }: NonNullable<AnswerGuard["texts"]>): TextGuard => {
    if (mostChars === undefined) return guard
    let chars = 0
    return {
      ...guard,
      find: (text) => {
        const before = chars
        chars += text.length
        if (chars <= mostChars) return guard.find(text)
        if (before <= mostChars) decided("answer", "unread")
        if (mode !== "warn") block(tooMuch)
        return []
      }
    }
  }
  return {
    guard: texts === null ? null : within(texts),
    found: ({ detector }) => {
      if (texts === null) return
      found += 1
      decided(detector, texts.mode)
      if (texts.mode === "block") block(personalData)
    },
    unread: () => {
      if (texts === null) return
      decided("answer", "unread")
      if (texts.mode === "block") block(unreadable)
    },
    read: ({ calls }) => {
      if (mayCall === null || calls.every(({ name }) => mayCall(name))) return
      decided("tool-policy", "block")
      block(forbiddenTool)
    },
    facts: () => ({ found, schema }),
    noteSchema: (outcome) => {
      schema = outcome
    },
    blocked: () => blocked
  }
}
