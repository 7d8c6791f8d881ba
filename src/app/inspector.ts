/** The traffic inspector, over the services it works on. Imported dynamically, by its first use. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CacheWatch from "../inspector/CacheWatch.ts"
import { handIn } from "../inspector/Ingest.ts"
import * as Inspector from "../inspector/Inspector.ts"
import { makeViews } from "../inspector/Views.ts"
import * as Timers from "../platform/Timers.ts"
import * as InspectorSessionRepo from "../store/repo/InspectorSessionRepo.ts"
import type { InspectorServices } from "../inspector/InspectorDoor.ts"

const layer = CacheWatch.layer.pipe(Layer.provideMerge(Inspector.layer), Layer.provide(InspectorSessionRepo.layer))

export const inspector = Effect.gen(function* () {
  const built = yield* Layer.build(layer)
  const timers = yield* Timers.Timers
  const service = Context.get(built, Inspector.Inspector)
  const services: InspectorServices = {
    inspector: service,
    cacheWatch: Context.get(built, CacheWatch.CacheWatch),
    views: makeViews(service, timers),
    handIn: (record) => handIn(service, record)
  }
  return services
})
