/** The check of one large request, as a thread does it: bytes in, bytes out. Pure. */
import type { GuardrailSettings } from "../../../../subjects/guardrails/entity.ts"
import type { WireName } from "../../../../contract/domain/Wire.ts"
import { findInjections, withoutInjections } from "../../../guard/injection/Injection.ts"
import { optionsOf } from "../../../guard/Inspect.ts"
import { redactText, redactValue } from "../../../guard/RedactedText.ts"
import { isObject } from "../../../../wire/json/Json.ts"
import { type DecisionCount, make as makeDecisions } from "../Decisions.ts"
import type { Active } from "../Policy.ts"
import { guardRequest, type Guarded } from "../requests/GuardRequest.ts"

export interface GuardJob {
  readonly wire: WireName
  /** A request that was read and checked before. */
  readonly body: Uint8Array
  readonly active: Pick<Active, "injection" | "personalData" | "sanitiser">
  readonly settings: Pick<GuardrailSettings, "customPatterns" | "disabledDetectors">
}

export interface GuardReport extends Pick<Guarded, "injection" | "isPartlyScanned" | "redacted"> {
  /** Null: it is the same. */
  readonly body: Uint8Array<ArrayBuffer> | null
  /** Reason of the refusal; null: it is not refused. */
  readonly refusal: string | null
  /** Decisions, with their counts. */
  readonly decided: ReadonlyArray<DecisionCount>
}

/** Throws where a guardrail fails. */
export const guardJob = ({ active, body, settings, wire }: GuardJob): GuardReport => {
  const parsed: unknown = JSON.parse(new TextDecoder().decode(body))
  if (!isObject(parsed)) throw new Error("The body is no object.")
  const decisions = makeDecisions()
  const detection = { options: optionsOf(settings), findInjections, redactText, redactValue, withoutInjections }
  const guarded = guardRequest(wire, parsed, active, detection, decisions.count)
  const { blocked, injection, isPartlyScanned, redacted } = guarded
  const isSame = blocked !== null || guarded.parsed === parsed
  return {
    body: isSame ? null : new TextEncoder().encode(JSON.stringify(guarded.parsed)),
    refusal: blocked === null ? null : blocked.message,
    injection,
    isPartlyScanned,
    redacted,
    decided: decisions.all()
  }
}
