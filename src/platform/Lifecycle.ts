/**
 * The life of the running service, as its parts may ask for it. The service is built in generations: a restart ends one and builds the next
 * in the same process, while the port stays open and requests that come meanwhile wait. Implemented by `app/Supervisor`.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The service does not restart: `reason` says why, and that it runs on or what became of it. */
export class RestartRefused extends Data.TaggedError("RestartRefused")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

export class Lifecycle extends Context.Tag("gateway/platform/Lifecycle")<
  Lifecycle,
  {
    /** Begins an orderly stop and returns at once: running requests may finish within the drain time, then the process ends with code 0. */
    readonly shutdown: Effect.Effect<void>
    /** Begins a restart and returns at once. Refused, with the service running on, when the next generation could not start. */
    readonly restart: Effect.Effect<void, RestartRefused>
    /**
     * Restarts, and runs `work` while nothing is open: no database, no cache, no timer of the service. Returns when the next generation
     * serves. When `work` fails the service comes back as it was; when the next generation does not start, `undo` runs and it is tried again.
     */
    readonly between: <A, E>(
      work: Effect.Effect<A, E>,
      undo: (result: A) => Effect.Effect<void>
    ) => Effect.Effect<A, E | RestartRefused>
  }
>() {}

const unsupervised = new RestartRefused({
  reason: "This gateway is part of another program, which alone can restart it."
})

/** Layer for a service that is embedded in another program. */
export const layerNone: Layer.Layer<Lifecycle> = Layer.succeed(Lifecycle, {
  shutdown: Effect.void,
  restart: unsupervised,
  between: () => unsupervised
})
