/** Decisions one after the other, with what they remember: what a simulation and a replay have in common. */
import type { SeededRandom } from "../../kernel/SeededRandom.ts"
import { callEnded, healed } from "../auto/SelfHealing.ts"
import type { Candidate, Features } from "../engine/Candidate.ts"
import { decide, type Decided, type DecidePolicy } from "../engine/Decide.ts"
import { keyOf } from "../engine/Snapshot.ts"
import { blankMemory } from "../engine/Strategy.ts"
import { asListed, isAsListed, servedOf } from "../Engine.ts"
import type { Resolution, Target } from "../ModelResolver.ts"

/** A request that asks for nothing special, with so many tokens. */
export const plainFeatures = (
  given: Pick<Features, "wire" | "stream" | "promptTokens" | "maxOutputTokens">
): Features => ({
  ...given,
  hasTools: false,
  hasImages: false,
  wantsReasoning: false,
  wantsSchema: false,
  taskType: "default",
  specificity: 0,
  sessionKey: null
})

export interface Deciding {
  /** Nothing is remembered of it yet. */
  readonly decide: (candidates: () => ReadonlyArray<Candidate>, features: Features, nowMs: number) => Decided
  /** It is carried out. */
  readonly commit: (decided: Decided) => void
  /** A target served it; `candidate` is asked for only where something is learned from that. */
  readonly served: (decided: Decided, candidate: () => Candidate | undefined) => void
  /** A call is over; `ok` null when nothing was learned. */
  readonly ended: (target: Target, ok: boolean | null, nowMs: number) => void
}

export const makeDeciding = (resolution: Resolution, policy: DecidePolicy, seeds: SeededRandom): Deciding => {
  const learn = servedOf(resolution)
  let memory = blankMemory
  let healing = healed
  return {
    decide: (candidates, features, nowMs) => {
      const seed = seeds.below(2 ** 32)
      if (isAsListed(resolution, null)) return asListed({ resolution, seed })
      return decide({
        resolution,
        candidates: candidates(),
        features,
        memory,
        healing,
        affinity: null,
        modeHeader: null,
        budgetHeader: null,
        ...policy,
        seed,
        nowMs
      })
    },
    commit: (decided) => {
      memory = decided.memory ?? memory
      healing = decided.healing
    },
    served: ({ detour }, candidate) => {
      if (learn === undefined || detour !== null) return
      const known = candidate()
      if (known !== undefined) memory = learn(memory, known, resolution.config)
    },
    ended: (target, ok, nowMs) => {
      if (ok !== null) healing = callEnded(healing, keyOf(target), ok, nowMs)
    }
  }
}
