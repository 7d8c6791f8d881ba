/**
 * Keeps the configuration of a worker as the database has it: changes are read by their rows, soon after they were made by whatever process, and at
 * once when the owner asks for it, which it does before it answers who made one.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import type * as SqlClient from "@effect/sql/SqlClient"
import { makeLane } from "../../kernel/Lane.ts"
import * as ConfigChangesRepo from "../../store/ConfigChangesRepo.ts"
import type { StoreError } from "../../store/Errors.ts"
import { SnapshotHolders, Snapshots } from "../../store/Snapshots.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { WorkerLinks } from "../state/link/WorkerLinks.ts"
import { makeRounds, takePart } from "../state/link/Rounds.ts"

/** A round: workers are to read what was changed. */
const topic = "config.check"

/** Time between checks for changes that come without a message, such as those of a command on the data folder. */
const lookEvery = "100 millis"

/** Layer below everything that reads the configuration: what is changed meanwhile is read again. */
export const heldLayer: Layer.Layer<never, StoreError, SqlClient.SqlClient> = Layer.effectContext(
  Effect.gen(function* () {
    const { last } = yield* ConfigChangesRepo.make
    return Context.make(Snapshots, new SnapshotHolders(yield* last)) as Context.Context<never>
  })
)

const make = Effect.gen(function* () {
  const holders = yield* Snapshots
  if (!(holders instanceof SnapshotHolders)) return
  const link = yield* OwnerLink
  const repo = yield* ConfigChangesRepo.make
  const oneAtATime = makeLane(1)
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  let seq = holders.since
  let dataVersion = -1

  const look = Effect.gen(function* () {
    const now = yield* repo.dataVersion
    if (now === dataVersion) return
    const found = yield* repo.since(seq)
    yield* found.changes === null ? holders.reloadAll() : holders.reload(found.changes)
    seq = found.seq
    dataVersion = now
  }).pipe(
    Effect.catchAll((error) => Effect.logWarning(`Changes of the configuration could not be read: ${error.message}`)),
    Effect.uninterruptible,
    oneAtATime.inTurn
  )
  const unlisten = takePart(
    link,
    topic,
    (done) =>
      void runFork(
        Effect.zipRight(
          look,
          Effect.sync(() => done(null))
        )
      )
  )
  yield* Effect.addFinalizer(() => Effect.sync(unlisten))
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(lookEvery)))
})

export const layer: Layer.Layer<never, never, OwnerLink | SqlClient.SqlClient> = Layer.scopedDiscard(make)

/** Done when every process has the configuration as it is now. */
export class ConfigSettled extends Context.Reference<ConfigSettled>()("gateway/plane/workers/ConfigSettled", {
  defaultValue: (): Effect.Effect<void> => Effect.void
}) {}

/** The owner's. */
export const settledLayer: Layer.Layer<ConfigSettled, never, WorkerLinks> = Layer.scoped(
  ConfigSettled,
  Effect.gen(function* () {
    const { round, stop } = makeRounds(yield* WorkerLinks, topic)
    yield* Effect.addFinalizer(() => Effect.sync(stop))
    return Effect.asVoid(round())
  })
)
