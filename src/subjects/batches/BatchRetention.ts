/** Forgets batches that are over, by the limits of `/api/settings` (`batches`). Their files are kept by limits of their own. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { claimed } from "../../plane/state/Claims.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { BatchRepo } from "./repo.ts"

const pruneEvery = "1 hour"
const pause = Effect.sleep("4 millis")
const dayMs = 86_400_000

export const make = Effect.gen(function* () {
  const repo = yield* BatchRepo
  const settings = yield* GatewaySettings

  const prune = Effect.gen(function* () {
    const { maxRows, retentionDays } = settings.current().batches
    const beforeMs = (yield* Clock.currentTimeMillis) - retentionDays * dayMs
    while ((yield* repo.prune(beforeMs, maxRows)) > 0) yield* pause
  })

  yield* prune.pipe(
    Effect.catchAll((error) => Effect.logWarning(`Old batches could not be removed: ${error.message}`)),
    Effect.repeat(Schedule.spaced(pruneEvery)),
    (pruning) => claimed("batch-retention", pruning),
    Effect.forkScoped
  )
})

export const layer: Layer.Layer<never, never, BatchRepo | GatewaySettings> = Layer.scopedDiscard(make)
