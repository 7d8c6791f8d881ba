/** Reports on the guardrails' treatment of a user's text, for people who try them. Pure. */
import * as Either from "effect/Either"
import type { GuardrailSettings } from "../../subjects/guardrails/entity.ts"
import { nsPerStep } from "../../kernel/text/LinearPattern.ts"
import { compilePattern, maxStoredSteps } from "./CustomPatterns.ts"
import { type DetectorOptions, redact } from "./Detectors.ts"
import { findInjections, withoutInjections } from "./injection/Injection.ts"
import type { InjectionGroup, Severity } from "./injection/Rules.ts"
import { redactText } from "./RedactedText.ts"
import { cleaned } from "./Sanitiser.ts"

export interface InForce {
  readonly settings: Pick<GuardrailSettings, "customPatterns" | "disabledDetectors">
  readonly sanitiser: boolean
  readonly injection: "off" | "warn" | "block" | "redact"
  readonly personalData: boolean
}

export interface Inspection {
  readonly personalData: ReadonlyArray<{ readonly detector: string; readonly start: number; readonly end: number }>
  readonly injections: ReadonlyArray<{
    readonly group: InjectionGroup
    readonly severity: Severity
    readonly start: number
    readonly end: number
  }>
  readonly redacted: string
  /** Null: a request with it is refused. */
  readonly sent: string | null
}

/** Patterns that were stored by a version with another syntax are left out. */
export const optionsOf = ({ customPatterns, disabledDetectors }: InForce["settings"]): DetectorOptions => ({
  disabled: new Set(disabledDetectors),
  custom: customPatterns.flatMap((source) => {
    const compiled = compilePattern(source, maxStoredSteps)
    return Either.isRight(compiled) ? [compiled.right] : []
  })
})

/** Milliseconds that a look at a text may take for patterns of the operator's own, at worst. It is looked at a few times. */
const mostTriedMs = 60
const looks = 3

/** Characters of a text that `inspect` may be given. */
export const mostTriedChars = (settings: InForce["settings"]): number => {
  const steps = optionsOf(settings).custom.reduce((sum, custom) => sum + custom.steps, 0)
  return Math.floor((mostTriedMs * 1e6) / (steps * nsPerStep * looks))
}

export const inspect = (text: string, { injection, personalData, sanitiser, settings }: InForce): Inspection => {
  const options = optionsOf(settings)
  const injections = findInjections(text)
  const { findings } = redact(text, options)
  const redacted = redactText(text, { options, found: () => {} })
  const isRefused = injection === "block" && injections.some(({ severity }) => severity === "high")
  const withoutAttempts = injection === "redact" ? withoutInjections(text, injections) : text
  const clean = sanitiser ? cleaned(withoutAttempts) : withoutAttempts
  return {
    personalData: findings.map(({ detector, end, start }) => ({ detector, start, end })),
    injections,
    redacted,
    sent: isRefused ? null : personalData ? redactText(clean, { options, found: () => {} }) : clean
  }
}
