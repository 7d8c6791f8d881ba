/** Events of workers: who listens at the owner, such as webhooks and the live feed, hears of all of them. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Events, type GatewayEvent } from "../../observe/Events.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { WorkerLinks } from "../state/link/WorkerLinks.ts"

const topic = "event"

/** Sends a worker's events to the owner. */
export const workerLayer: Layer.Layer<never, never, Events | OwnerLink> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { listen } = yield* Events
    const { send } = yield* OwnerLink
    yield* Effect.acquireRelease(
      Effect.sync(() => listen((event) => send(topic, event))),
      (stop) => Effect.sync(stop)
    )
  })
)

/** Publishes them at the owner. */
export const ownerLayer: Layer.Layer<never, never, Events | WorkerLinks> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { publish } = yield* Events
    const { serve } = yield* WorkerLinks
    yield* Effect.acquireRelease(
      Effect.sync(() => serve(topic, (_, event) => publish(event as GatewayEvent))),
      (stop) => Effect.sync(stop)
    )
  })
)
