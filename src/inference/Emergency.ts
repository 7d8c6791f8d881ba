/**
 * The emergency fallback (flag `GATEWAY_EMERGENCY_FALLBACK`, document 1 "Errors"): a request that failed because the money is used up
 * goes to a free model instead, if that provider is connected. Never with tools: the small model would act in the big one's name.
 */
import { mayUse } from "../routing/ModelIds.ts"
import type { Resolution } from "../routing/ModelResolver.ts"
import type { LoopEnd } from "./AttemptLoop.ts"
import type { Work } from "./Exchange.ts"

export const emergencyModel = "nvidia/openai/gpt-oss-120b"
/** Most tokens of an emergency answer. */
export const maxEmergencyTokens = 4_096

/** The failure is about money, and the request is one that the fallback may take over. */
export const isEmergency = (work: Work, end: LoopEnd): boolean => {
  const { principal } = work.exchange
  if (work.envelope.hasTools || work.outputCap !== null) return false
  if (principal._tag === "Key" && !mayUse(principal.key, emergencyModel)) return false
  if (end._tag === "Failed") return end.failure.kind === "credits_exhausted"
  return end._tag === "Unavailable" && end.unready.terminal === "credits_exhausted"
}

/** The same request, asked of the fallback. What was tried before stays on its record. */
export const emergencyWork = (work: Work, resolution: Resolution): Work => ({
  ...work,
  outputCap: maxEmergencyTokens,
  decision: { ...work.decision, order: resolution.targets, reason: "emergency fallback: credits exhausted" }
})
