/** The features in force, from the outermost to the innermost. To remove one: its folder, its layer, and its line here. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Failover } from "../failover/Failover.ts"
import type { RequestEnd } from "../failover/FailoverEnd.ts"
import type { Bill } from "../settle/Bill.ts"
import type { Work } from "../request/Exchange.ts"
import type { Cancel, StartListener } from "../request/Start.ts"
import { Cache } from "./cache/Cache.ts"
import { Coalescing } from "./coalescing/Coalescing.ts"
import { Compression } from "./Compression.ts"
import { Emergency } from "./Emergency.ts"
import type { Answer, Answered } from "./Feature.ts"
import { KnownFiles } from "./files/KnownFiles.ts"
import { Fusion } from "./fusion/Fusion.ts"
import { Guardrails } from "./guardrails/Guardrails.ts"
import { Handoff } from "./handoff/Handoff.ts"
import { Idempotency } from "./idempotency/Idempotency.ts"
import { Memory } from "./memory/Memory.ts"
import { Plugins } from "./plugins/Plugins.ts"
import { Progress } from "./Progress.ts"
import { Recovery } from "./recovery/Recovery.ts"
import { VisionBridge } from "./vision/VisionBridge.ts"
import { WebSearch } from "./websearch/WebSearch.ts"

const inForce = Effect.all([
  Progress,
  Idempotency,
  Plugins,
  KnownFiles,
  VisionBridge,
  Guardrails,
  Memory,
  Cache,
  Coalescing,
  Compression,
  Handoff,
  Emergency,
  WebSearch,
  Fusion,
  Recovery
])

export class Features extends Context.Tag("gateway/plane/features/Features")<
  Features,
  {
    /** Hot: failover, with all features around it; without a fiber for a request whose first call answers, and which concerns no feature. */
    readonly start: (work: Work, listener: StartListener<Answered>) => Cancel
    /** Checks whether a feature that is on may change the request or the answer. */
    readonly rewrites: (work: Work) => boolean
    /** Hot: notifies the features that a request has ended. */
    readonly ended: (work: Work, end: RequestEnd, bill: Bill) => void
  }
>() {}

const none: Answered["others"] = []

export const make = Effect.gen(function* () {
  const failover = yield* Failover
  const features = yield* inForce
  const around = (innermost: Answer): Answer =>
    features.reduceRight<Answer>((next, feature) => feature.around(next), innermost)
  const alone: Answer = (work) => Effect.map(failover.run(work), (end) => ({ work, end, others: none }))
  const answer = around(alone)
  const concerning = features.flatMap(({ concerns }) => concerns ?? [])

  const rewriting = [yield* VisionBridge, yield* Guardrails, yield* Memory, yield* Compression].flatMap(
    ({ concerns }) => concerns ?? []
  )

  const remarking = features.flatMap(({ remark }) => remark ?? [])
  const remarkOn = (work: Work): void => {
    for (const remark of remarking) remark(work)
  }

  const isConcerned = (work: Work): boolean => {
    for (const concerns of concerning) if (concerns(work)) return true
    return false
  }

  const start = (work: Work, { died, ended, goesOn }: StartListener<Answered>): Cancel => {
    remarkOn(work)
    if (isConcerned(work)) {
      goesOn(answer(work))
      return () => {}
    }
    return failover.start(work, {
      ended: (end) => ended({ work, end, others: none }),
      died,
      goesOn: (rest) => {
        const first = Effect.map(rest, (end) => ({ work, end, others: none }))
        // Another request that a feature makes of it is a new one.
        goesOn(around((asked) => (asked === work ? first : alone(asked)))(work))
      }
    })
  }

  const listening = features.flatMap(({ ended }) => ended ?? [])
  return Features.of({
    start,
    rewrites: (work) => rewriting.some((concerns) => concerns(work)),
    ended: (work, end, bill) => {
      for (const tell of listening) tell(work, end, bill)
    }
  })
})

export const layer: Layer.Layer<Features, never, Failover | Effect.Effect.Context<typeof inForce>> = Layer.effect(
  Features,
  make
)
