/** The traffic inspector, over the services it works on. Imported dynamically, by its first use. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CacheWatch from "../inspector/CacheWatch.ts"
import * as Inspector from "../inspector/Inspector.ts"
import * as InspectorSessionRepo from "../store/repo/InspectorSessionRepo.ts"
import type { InspectorServices } from "../inspector/InspectorDoor.ts"

const layer = CacheWatch.layer.pipe(Layer.provideMerge(Inspector.layer), Layer.provide(InspectorSessionRepo.layer))

export const inspector = Effect.map(Layer.build(layer), (built): InspectorServices => ({
  inspector: Context.get(built, Inspector.Inspector),
  cacheWatch: Context.get(built, CacheWatch.CacheWatch)
}))
