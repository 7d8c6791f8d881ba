/** Deliveries to webhooks for tests of other things: real, over events that are never published. */
import * as Layer from "effect/Layer"
import * as Events from "../../src/events/Events.ts"
import * as Deliveries from "../../src/webhooks/Deliveries.ts"
import * as Outbox from "../../src/webhooks/Outbox.ts"
import * as Sender from "../../src/webhooks/Sender.ts"

export const webhookDeliveries = Deliveries.layer.pipe(
  Layer.provide(Layer.mergeAll(Sender.layer, Outbox.layer)),
  Layer.provide(Events.layer),
  Layer.orDie
)
