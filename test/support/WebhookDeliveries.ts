/** Deliveries to webhooks for tests of other things: real, over events that are never published. */
import * as Layer from "effect/Layer"
import * as Events from "../../src/observe/Events.ts"
import * as Deliveries from "../../src/subjects/webhooks/Deliveries.ts"
import * as Outbox from "../../src/subjects/webhooks/Outbox.ts"
import * as Sender from "../../src/subjects/webhooks/Sender.ts"

export const webhookDeliveries = Deliveries.layer.pipe(
  Layer.provide(Sender.layer),
  Layer.provideMerge(Outbox.layer),
  Layer.provide(Events.layer),
  Layer.orDie
)
