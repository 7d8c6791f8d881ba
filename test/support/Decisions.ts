/** Entries in the decision log of a request over the given targets. */
import { byStrategy } from "../../src/plane/routing/candidate/Reason.ts"
import type { DecisionEntry } from "../../src/plane/routing/records/DecisionRecords.ts"
import type { Target } from "../../src/plane/routing/resolve/ModelResolver.ts"

export const decisionEntry = (requestId: string, targets: ReadonlyArray<Target>, scored: boolean): DecisionEntry =>
  ({
    requestId,
    requestedModel: "auto",
    resolution: { combo: null, targets },
    decision: {
      strategy: "auto",
      seed: 1,
      reason: byStrategy("r"),
      weights: null,
      order: targets,
      scores: new Map(scored ? targets.map((target) => [target, { score: 1, factors: { health: 1 } }]) : []),
      exclusions: new Map(),
      relaxedFilters: []
    },
    attempts: [],
    exclusions: new Map(),
    chosen: targets[0] ?? null
  }) as unknown as DecisionEntry
