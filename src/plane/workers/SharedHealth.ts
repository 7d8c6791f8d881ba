/** The ways of `plane/state/replica` between the processes: a worker tells the owner, which tells the other workers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Timers } from "../../platform/Timers.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { WorkerLinks } from "../state/link/WorkerLinks.ts"
import { type Happened, Replica, SharedFunctions } from "../state/Replica.ts"

const topic = "replica"

const provided = (functions: SharedFunctions): Context.Context<never> =>
  Context.make(Replica, functions) as Context.Context<never>

export const workerLayer: Layer.Layer<never, never, OwnerLink | Timers> = Layer.scopedContext(
  Effect.gen(function* () {
    const { listen, send } = yield* OwnerLink
    const { after } = yield* Timers
    const functions = new SharedFunctions(after, (happened) => send(topic, happened))
    yield* Effect.acquireRelease(
      Effect.sync(() => listen(topic, (happened) => functions.apply(happened as ReadonlyArray<Happened>))),
      (stop) => Effect.sync(stop)
    )
    return provided(functions)
  })
)

export const ownerLayer: Layer.Layer<never, never, Timers | WorkerLinks> = Layer.scopedContext(
  Effect.gen(function* () {
    const { serve, tellAll } = yield* WorkerLinks
    const { after } = yield* Timers
    const functions = new SharedFunctions(after, (happened) => tellAll(topic, happened))
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        serve(topic, (worker, happened) => {
          functions.apply(happened as ReadonlyArray<Happened>)
          tellAll(topic, happened, worker)
        })
      ),
      (stop) => Effect.sync(stop)
    )
    return provided(functions)
  })
)
