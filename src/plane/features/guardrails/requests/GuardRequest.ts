/** A request as it may go on: without what a guardrail takes out of it, or not at all. Pure. */
import { GuardrailBlocked } from "../../../../contract/domain/Errors.ts"
import type { WireName } from "../../../../contract/domain/Wire.ts"
import { scannedChars } from "../../../guard/injection/Limits.ts"
import { cleaned } from "../../../guard/Sanitiser.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../../wire/json/Json.ts"
import type { Detection } from "../Detection.ts"
import type { Active, InjectionMode } from "../Policy.ts"
import { type Author, mapTexts, type Visitor } from "./Texts.ts"

export interface Guarded {
  /** The same object where nothing was replaced. */
  readonly parsed: JsonObject
  /** Places of personal data that were replaced. */
  readonly redacted: number
  /** Treatment of attempts to take over the model; null: there were none. */
  readonly injection: InjectionMode | null
  /** True when there was more text than is looked at for such attempts. */
  readonly isPartlyScanned: boolean
  readonly blocked: GuardrailBlocked | null
}

export type Decided = (detector: string, action: string, times?: number) => void

/** Changes every string of a value; names of members stay. */
const inStrings = (change: (text: string) => string): ((value: Json) => Json) => {
  const inValue = (value: Json): Json => {
    if (typeof value === "string") return change(value)
    if (isArray(value)) {
      const next = value.map(inValue)
      return next.some((item, index) => item !== value[index]) ? next : value
    }
    if (!isObject(value)) return value
    let copy: Record<string, Json | undefined> | null = null
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      const next = inValue(member)
      if (next !== member) (copy ??= { ...value })[name] = next
    }
    return copy ?? value
  }
  return inValue
}

const everywhere = (change: (text: string, author: Author) => string): Visitor => ({
  text: change,
  data: (value, author) => inStrings((text) => change(text, author))(value)
})

const refusal =
  "The request looks like an attempt to take over the model (prompt injection), and this gateway does not pass it on (INJECTION_GUARD_MODE)."

const tooLong =
  "The request has more text than this gateway can check for attempts to take over the model (INJECTION_GUARD_MODE): " +
  `${scannedChars} characters.`

/** Checks whether people or tools have written it; texts of the operator and of the model are not looked at. */
const isUntrusted = (author: Author): boolean => author === "user" || author === "tool"

export const guardRequest = (
  wire: WireName,
  asked: JsonObject,
  { injection: mode, personalData, sanitiser }: Pick<Active, "injection" | "personalData" | "sanitiser">,
  {
    findInjections,
    options,
    redactText,
    redactValue,
    withoutInjections
  }: Pick<Detection, "findInjections" | "options" | "redactText" | "redactValue" | "withoutInjections">,
  decided: Decided
): Guarded => {
  let parsed = asked
  let injection: InjectionMode | null = null
  let isBlocked = false
  let unscanned = scannedChars
  let isPartlyScanned = false
  let redacted = 0

  if (mode !== null) {
    const look = (text: string, author: Author): string => {
      if (!isUntrusted(author)) return text
      if (text.length > unscanned) {
        if (!isPartlyScanned) decided("injection", mode === "block" ? "block" : "unchecked")
        isPartlyScanned = true
      }
      const findings = findInjections(text.length > unscanned ? text.slice(0, unscanned) : text)
      unscanned -= Math.min(unscanned, text.length)
      if (findings.length === 0) return text
      const isSevere = findings.some(({ severity }) => severity === "high")
      const action = mode === "block" && !isSevere ? "warn" : mode
      isBlocked ||= action === "block"
      injection = injection === "block" ? injection : action
      for (const group of new Set(findings.map((each) => each.group))) decided(`injection:${group}`, action)
      return mode === "redact" ? withoutInjections(text, findings) : text
    }
    parsed = mapTexts(wire, parsed, everywhere(look))
  }
  if (isBlocked || (isPartlyScanned && mode === "block")) {
    const blocked = new GuardrailBlocked({ code: "SECURITY_001", message: isBlocked ? refusal : tooLong })
    return { parsed: asked, redacted, injection, isPartlyScanned, blocked }
  }

  if (sanitiser) {
    const clean = (text: string): string => {
      const next = cleaned(text)
      if (next !== text) decided("sanitizer", "redact")
      return next
    }
    parsed = mapTexts(wire, parsed, everywhere(clean))
  }

  if (personalData) {
    const redaction = {
      options,
      found: (detector: string) => {
        redacted += 1
        decided(detector, "redact")
      }
    }
    parsed = mapTexts(wire, parsed, {
      text: (text) => redactText(text, redaction),
      data: (value) => (typeof value === "string" ? redactText(value, redaction) : redactValue(value, redaction))
    })
  }
  return { parsed, redacted, injection, isPartlyScanned, blocked: null }
}
