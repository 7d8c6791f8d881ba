/** The playground, over the services it works on. Imported dynamically, by its first use. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { InnerRequests } from "../plane/InnerRequests.ts"
import { TrafficTap } from "../plane/tap/TrafficTap.ts"
import { Timers } from "../platform/Timers.ts"
import { presetOf } from "../agents/playground/CapturedPreset.ts"
import { makeCompare } from "../agents/playground/Compare.ts"
import { makeImprove } from "../agents/playground/Improve.ts"
import type { PlaygroundServices } from "../agents/playground/LazyPlayground.ts"
import * as Presets from "../agents/playground/Presets.ts"
import { snippetsOf } from "../agents/playground/snippets/Snippets.ts"
import * as PlaygroundPresetRepo from "../subjects/playground/repo.ts"

const layer = Presets.layer.pipe(Layer.provide(PlaygroundPresetRepo.layer))

export const playground = Effect.gen(function* () {
  const built = yield* Layer.build(layer)
  const inner = yield* InnerRequests
  const tap = yield* TrafficTap
  const timers = yield* Timers
  const services: PlaygroundServices = {
    presets: Context.get(built, Presets.Presets),
    improve: makeImprove({ inner, tap }),
    compare: makeCompare({ inner, tap, timers }),
    snippets: snippetsOf,
    presetOf
  }
  return services
})
