/** A small guard for tests of what becomes of findings; the real detectors have tests of their own. */
import { type DetectorOptions, findPersonalData, longestMatchChars, openFrom } from "../../src/plane/guard/Detectors.ts"
import type { Finding, TextGuard } from "../../src/plane/features/guardrails/answers/TextGuard.ts"

export const personalData = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b\d{4}(?:[ -]?\d{4}){3}\b/g

export const placeholderOf = (found: string): string =>
  found.includes("@") ? "[EMAIL_REDACTED]" : "[CREDIT_CARD_REDACTED]"

export const testGuard: TextGuard = {
  find: (text) =>
    Array.from(text.matchAll(personalData), (match): Finding => ({
      start: match.index,
      end: match.index + match[0].length,
      detector: match[0].includes("@") ? "email" : "credit-card",
      placeholder: placeholderOf(match[0])
    })),
  longestMatchChars: 100,
  openFrom: (text) => text.length - (/(?:\d[\d -]*|\S*)$/.exec(text)?.[0].length ?? 0)
}

/** The detectors that the gateway has. */
export const textGuard = (options: DetectorOptions): TextGuard => ({
  find: (text) => findPersonalData(text, options),
  longestMatchChars,
  openFrom: (text) => openFrom(text, options)
})
