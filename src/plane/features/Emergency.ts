/**
 * The emergency fallback (flag `GATEWAY_EMERGENCY_FALLBACK`): a request that failed because credits are used up is sent to a free model
 * instead, if its provider is connected. Never with tools: a smaller model would then act in place of the one that was requested.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { emergencyFallback } from "../routing/candidate/Reason.ts"
import * as Flags from "../../subjects/flags/service.ts"
import * as Resolutions from "../routing/resolve/Resolutions.ts"
import { judgeFor, keyIn } from "../routing/resolve/KeyModels.ts"
import type { Resolution } from "../routing/resolve/ModelResolver.ts"
import type { RequestEnd } from "../failover/FailoverEnd.ts"
import type { Work } from "../request/Exchange.ts"
import type { Feature } from "./Feature.ts"

export class Emergency extends Context.Tag("gateway/plane/features/Emergency")<Emergency, Feature>() {}

const emergencyModel = "nvidia/openai/gpt-oss-120b"
/** Output limit of an emergency answer, in tokens. */
const maxEmergencyTokens = 4_096

/** A used-up quota that only a payment opens, as OpenAI's 429 says it; a plan's window opens again by itself. */
const ofMoney = /\b(?:billing|budget|credits?|balance|payment)\b/i

const isMoney = (kind: string | null, text: string): boolean =>
  kind === "credits_exhausted" || kind === "insufficient_quota" || (kind === "quota_exhausted" && ofMoney.test(text))

/** The failure is about money, and the request is one that the fallback may take over. */
const isEmergency = (work: Work, end: RequestEnd): boolean => {
  // A language model answers conversations only.
  if (work.envelope.hasTools || work.outputCap !== null || work.exchange.codec.endpoint !== undefined) return false
  if (end._tag === "Failed") return isMoney(end.failure.kind, end.failure.message)
  return end._tag === "Unavailable" && isMoney(end.unready.terminal ?? end.unready.kind, end.unready.detail)
}

/** Returns the part of the resolution that the caller's key may use; null: none. */
const ownedBy = ({ exchange }: Work, resolution: Resolution): Resolution | null => {
  const key = keyIn(exchange.principal)
  if (key === null) return resolution
  const verdict = judgeFor(key, emergencyModel, resolution)
  return verdict._tag === "May" ? verdict.resolution : null
}

/** The same request, asked of the fallback. What was tried before stays on its record. */
const emergencyWork = (work: Work, resolution: Resolution): Work => ({
  ...work,
  outputCap: maxEmergencyTokens,
  decision: { ...work.decision, order: resolution.targets, reason: emergencyFallback }
})

export const make = Effect.gen(function* () {
  const flags = yield* Flags.Flags
  const resolutions = yield* Resolutions.Resolutions
  return Emergency.of({
    around: (next) => (asked) =>
      Effect.flatMap(next(asked), (first) => {
        const { end, work } = first
        if (!isEmergency(work, end) || !flags.isOn("GATEWAY_EMERGENCY_FALLBACK")) return Effect.succeed(first)
        const resolution = resolutions.resolve(emergencyModel)
        const fallback = "_tag" in resolution ? null : ownedBy(work, resolution)
        if (fallback === null) return Effect.succeed(first)
        return Effect.map(next(emergencyWork(work, fallback)), (second) =>
          second.end._tag === "Answered" ? { ...second, others: [...first.others, ...second.others] } : first
        )
      })
  })
})

export const layer: Layer.Layer<Emergency, never, Flags.Flags | Resolutions.Resolutions> = Layer.effect(Emergency, make)
