/** The features in force, from the outermost to the innermost. To remove one: its folder, its layer, and its line here. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Failover } from "../failover/Failover.ts"
import type { FailoverEnd } from "../failover/FailoverEnd.ts"
import type { Work } from "../request/Exchange.ts"
import { Emergency } from "./emergency/Emergency.ts"
import type { Answer } from "./Feature.ts"
import { Fusion } from "./fusion/Fusion.ts"
import { Handoff } from "./handoff/Handoff.ts"
import { Recovery } from "./recovery/Recovery.ts"

const inForce = Effect.all([Handoff, Emergency, Fusion, Recovery])

export class Features extends Context.Tag("gateway/inference/features/Features")<
  Features,
  {
    /** Hot: failover, with all features around it. */
    readonly answer: Answer
    /** Hot: tells the features that a request has ended. */
    readonly ended: (work: Work, end: FailoverEnd) => void
  }
>() {}

export const make = Effect.gen(function* () {
  const failover = yield* Failover
  const features = yield* inForce
  const alone: Answer = (work) => Effect.map(failover.run(work), (end) => ({ work, end, others: [] }))
  const listening = features.flatMap(({ ended }) => ended ?? [])
  return Features.of({
    answer: features.reduceRight<Answer>((next, feature) => feature.around(next), alone),
    ended: (work, end) => {
      for (const tell of listening) tell(work, end)
    }
  })
})

export const layer: Layer.Layer<Features, never, Failover | Handoff | Emergency | Fusion | Recovery> = Layer.effect(
  Features,
  make
)
