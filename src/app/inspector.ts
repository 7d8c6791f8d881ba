/** The traffic inspector, over the services it works on. Imported dynamically, by its first use. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CacheWatch from "../observe/inspector/CacheWatch.ts"
import * as CaptureSettings from "../observe/capture/CaptureSettings.ts"
import { type HandedIn, handIn } from "../observe/inspector/Ingest.ts"
import * as Inspector from "../observe/inspector/Inspector.ts"
import { makeViews } from "../observe/inspector/Views.ts"
import * as Timers from "../platform/Timers.ts"
import * as InspectorSessionRepo from "../subjects/inspector/repo.ts"
import { SettingsRepo } from "../subjects/settings/repo.ts"
import type { InspectorServices } from "../observe/inspector/LazyInspector.ts"

const layer = CacheWatch.layer.pipe(Layer.provideMerge(Inspector.layer), Layer.provide(InspectorSessionRepo.layer))

export const inspector = Effect.gen(function* () {
  const built = yield* Layer.build(layer)
  const timers = yield* Timers.Timers
  const service = Context.get(built, Inspector.Inspector)
  const stored = yield* SettingsRepo
  /** Finds the kind that was chosen when the host was added. */
  const kindOf = ({ host, source }: HandedIn) =>
    source !== "custom-host"
      ? Effect.succeed(null)
      : CaptureSettings.read.pipe(
          Effect.provideService(SettingsRepo, stored),
          Effect.map(({ hosts }) => hosts.find((custom) => custom.host === host.toLowerCase())?.kind ?? null),
          Effect.catchAll((problem) =>
            Effect.as(Effect.logWarning("The custom hosts could not be read", problem), null)
          )
        )
  const services: InspectorServices = {
    inspector: service,
    cacheWatch: Context.get(built, CacheWatch.CacheWatch),
    views: makeViews(service, timers),
    handIn: (record) => Effect.map(kindOf(record), (kind) => handIn(service, record, kind))
  }
  return services
})
