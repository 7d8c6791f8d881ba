/** Fetching from addresses that others chose, for commands: as a gateway does it, without a database. Imported dynamically by `src/cli` only. */
import * as Layer from "effect/Layer"
import { defaultResilience } from "../subjects/resilience/entity.ts"
import * as Dns from "../net/egress/Dns.ts"
import * as PublicFetchRoom from "../net/egress/PublicFetch.ts"
import { layerFromEnvironment } from "../net/egress/UpstreamSettings.ts"
import * as Flags from "../subjects/flags/service.ts"
import * as FlagStore from "../subjects/flags/repo.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import * as Timers from "../platform/Timers.ts"

export { PublicFetch } from "../net/egress/PublicFetch.ts"

/** Flags are those of the environment. */
export const fetchingLayer: Layer.Layer<PublicFetchRoom.PublicFetch, never, AppConfig> = PublicFetchRoom.layer.pipe(
  Layer.provide(
    Layer.mergeAll(
      Dns.layer,
      Timers.layer,
      layerFromEnvironment(() => defaultResilience.timeouts.connectMs),
      Flags.layer.pipe(Layer.provide(FlagStore.layerMemory()))
    )
  )
)
