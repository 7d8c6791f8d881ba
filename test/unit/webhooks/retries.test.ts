/** When a delivery is tried again, on a clock that the test moves, against receivers on real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import type { Webhook } from "../../../src/subjects/webhooks/entity.ts"
import * as Dns from "../../../src/net/egress/Dns.ts"
import * as Mail from "../../../src/net/egress/Mail.ts"
import * as PublicFetch from "../../../src/net/egress/PublicFetch.ts"
import * as UpstreamSettings from "../../../src/net/egress/UpstreamSettings.ts"
import * as Events from "../../../src/observe/Events.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import { OutboxRepo } from "../../../src/subjects/webhooks/OutboxRepo.ts"
import { WebhookRepo } from "../../../src/subjects/webhooks/repo.ts"
import * as Deliveries from "../../../src/subjects/webhooks/Deliveries.ts"
import * as Outbox from "../../../src/subjects/webhooks/Outbox.ts"
import * as Sender from "../../../src/subjects/webhooks/Sender.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answering, envelopeOf, hanging, resetting } from "../../support/Receiver.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { eventually } from "../../support/eventually.ts"
import { reposInMemory } from "../store/fixtures.ts"

const rooms = Deliveries.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Sender.layer, Outbox.layer)),
  Layer.provide(Layer.mergeAll(PublicFetch.layer, Mail.layer)),
  Layer.provide(Flags.layer),
  Layer.provide(layerMemory({ OUTBOUND_SSRF_GUARD_ENABLED: "false" })),
  Layer.provide(UpstreamSettings.layerOf({ connectTimeoutMs: 60_000 })),
  Layer.provide(Layer.mergeAll(Dns.layer, AppConfig.layerOf({ dataDir: "/nowhere" }))),
  Layer.provideMerge(Layer.mergeAll(Events.layer, IdGen.layerCounting("event"), TestTimers.layer, reposInMemory))
)

const webhookAt = (url: string): Webhook => ({
  id: "hook",
  url,
  events: ["*"],
  kind: "custom",
  mail: null,
  secret: Redacted.make("a secret"),
  enabled: true,
  description: null,
  timeZone: "UTC",
  quietHours: null,
  createdAtMs: 0,
  lastTriggeredAtMs: null,
  lastStatus: null,
  failureCount: 0
})

/** A webhook with one event on its way. */
const setUp = Effect.gen(function* () {
  const receiver = yield* Fake.start
  const hooks = yield* WebhookRepo
  const outbox = yield* OutboxRepo
  const deliveries = yield* Deliveries.Deliveries
  yield* hooks.insert(webhookAt(receiver.origin))
  yield* deliveries.refresh
  const { publish } = yield* Events.Events
  const recorded = (count: number) =>
    Effect.promise(() =>
      eventually(
        `${count} attempts`,
        () => Effect.runPromise(outbox.attempts("hook")),
        ({ length }) => length === count
      )
    )
  const begin = Effect.sync(() =>
    publish({ type: "provider.recovered", atMs: 0, provider: "one", recoveredAfterMs: null })
  )
  return { receiver, hooks, outbox, begin, recorded }
})

describe("retries", () => {
  it.scoped("come after 1, 2 and 4 seconds, and then the delivery has failed", () =>
    Effect.gen(function* () {
      const { begin, hooks, outbox, receiver, recorded } = yield* setUp
      receiver.enqueue(answering(500), resetting, answering(503), answering(500))
      yield* begin
      yield* recorded(1)
      for (const [attempt, waitMs] of [
        [2, 1_000],
        [3, 2_000],
        [4, 4_000]
      ] as const) {
        yield* TestClock.adjust(waitMs - 1)
        assert.lengthOf(receiver.requests, attempt - 1)
        yield* TestClock.adjust(1)
        yield* recorded(attempt)
      }
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(receiver.requests, 4)
      assert.strictEqual(new Set(receiver.requests.map((request) => envelopeOf(request).id)).size, 1)
      const log = yield* outbox.attempts("hook")
      assert.deepStrictEqual(
        log.map(({ attempt, status, atMs }) => [attempt, status, atMs]),
        [
          [4, 500, 7_000],
          [3, 503, 3_000],
          [2, 0, 1_000],
          [1, 500, 0]
        ]
      )
      assert.deepInclude(yield* hooks.get("hook"), { failureCount: 1, lastStatus: 500, enabled: true })
      assert.strictEqual(yield* outbox.waiting, 0)
    }).pipe(Effect.provide(rooms))
  )

  it.scoped("follow a receiver that does not answer within ten seconds", () =>
    Effect.gen(function* () {
      const { begin, hooks, outbox, receiver, recorded } = yield* setUp
      receiver.enqueue(hanging, answering(200))
      yield* begin
      const request = yield* Effect.promise(() => receiver.received(1))
      yield* TestClock.adjust(Sender.attemptTimeoutMs)
      yield* Effect.promise(() => request.closed)
      const [first] = yield* recorded(1)
      assert.deepInclude(first, { status: 0, success: false, latencyMs: 10_000 })
      assert.include(first?.error, "10 seconds")
      yield* TestClock.adjust("1 second")
      yield* recorded(2)
      assert.deepInclude(yield* hooks.get("hook"), { failureCount: 0, lastStatus: 200 })
      assert.strictEqual(yield* outbox.waiting, 0)
    }).pipe(Effect.provide(rooms))
  )
})
