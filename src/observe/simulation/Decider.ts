/** Decisions one after the other, with what they remember: what a simulation and a replay have in common. */
import type { SeededRandom } from "../../kernel/SeededRandom.ts"
import { callEnded, healed } from "../../plane/routing/auto/SelfHealing.ts"
import type { Candidate, Features } from "../../plane/routing/candidate/Candidate.ts"
import { decide, type Decided, type DecidePolicy } from "../../plane/routing/decide/Decide.ts"
import { targetKeyOf } from "../../plane/routing/resolve/TargetKey.ts"
import { blankMemory } from "../../plane/routing/candidate/Strategy.ts"
import * as Affinity from "../../plane/routing/decide/Affinity.ts"
import { asListed, isAsListed, keptFor, type Question, servedOf } from "../../plane/routing/decide/Engine.ts"
import type { Resolution, Target } from "../../plane/routing/resolve/ModelResolver.ts"

/** A request that asks for nothing special, with so many tokens. */
export const plainFeatures = (
  request: Pick<Features, "wire" | "stream" | "promptTokens" | "maxOutputTokens">
): Features => ({
  ...request,
  hasTools: false,
  hasImages: false,
  wantsReasoning: false,
  wantsSchema: false,
  taskType: "default",
  specificity: 0,
  sessionKey: null
})

/** Session of a request, and whether it begins with a prompt of the user. */
export type SessionTurn = Pick<Question, "sessionKey" | "startsPrompt">

export const noSession: SessionTurn = { sessionKey: null, startsPrompt: () => true }

export interface Decider {
  /** Nothing is remembered of it yet. */
  readonly decide: (
    candidates: () => ReadonlyArray<Candidate>,
    features: Features,
    nowMs: number,
    turn: SessionTurn
  ) => Decided
  /** Carries out the decision. */
  readonly commit: (decided: Decided) => void
  /** A target served it; `candidate` is asked for only where something is learned from that. */
  readonly served: (decided: Pick<Decided, "detour">, by: Served, candidate: () => Candidate | undefined) => void
  /** A call is over; `ok` null when nothing was learned. */
  readonly ended: (target: Target, ok: boolean | null, nowMs: number) => void
}

/** Target that served a request of a session. */
interface Served {
  readonly target: Target
  readonly sessionKey: string | null
  readonly nowMs: number
}

export const makeDecider = (resolution: Resolution, policy: DecidePolicy, seeds: SeededRandom): Decider => {
  const learn = servedOf(resolution)
  const affinity = Affinity.make()
  let memory = blankMemory
  let healing = healed
  return {
    decide: (candidates, features, nowMs, turn) => {
      const seed = seeds.below(2 ** 32)
      const kept = keptFor(affinity, { ...turn, resolution, nowMs })
      if (isAsListed(resolution, kept)) return asListed({ resolution, seed })
      return decide({
        resolution,
        candidates: candidates(),
        features,
        memory,
        healing,
        affinity: kept,
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
    served: ({ detour }, { nowMs, sessionKey, target }, candidate) => {
      if (sessionKey !== null) affinity.served(sessionKey, target, nowMs)
      if (learn === undefined || detour !== null) return
      const known = candidate()
      if (known !== undefined) memory = learn(memory, known, resolution.policy)
    },
    ended: (target, ok, nowMs) => {
      if (ok !== null) healing = callEnded(healing, targetKeyOf(target), ok, nowMs)
    }
  }
}
