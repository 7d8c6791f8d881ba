/** Quiet hours: which times they are, what passes, and that what is held is told once, over restarts and clocks that were moved. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import type { QuietHours, Webhook } from "../../../src/subjects/webhooks/entity.ts"
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
import { quietHoursOf } from "../../../src/subjects/webhooks/rules.ts"
import { isQuietAt, passes, untilNextMinuteMs } from "../../../src/subjects/webhooks/quiet/Hours.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answering, envelopeOf } from "../../support/Receiver.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { eventually } from "../../support/eventually.ts"
import { reposInMemory } from "../store/fixtures.ts"

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** A Monday, and noon in Zurich an hour before. */
const noonMs = Date.UTC(2026, 10, 23, 12)

const nights: QuietHours = {
  windows: [{ days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], from: "22:00", to: "07:00" }],
  passSeverity: null,
  passEvents: []
}

describe("quiet hours", () => {
  const at = (iso: string, quietHours: QuietHours, timeZone = "Europe/Zurich") =>
    isQuietAt({ quietHours, timeZone }, Date.parse(iso))

  it("are those of the zone's clocks, over midnight", () => {
    assert.isFalse(at("2026-11-23T20:59:59Z", nights))
    assert.isTrue(at("2026-11-23T21:00:00Z", nights))
    assert.isTrue(at("2026-11-24T05:59:59Z", nights))
    assert.isFalse(at("2026-11-24T06:00:00Z", nights))
    // In summer an hour earlier by UTC.
    assert.isTrue(at("2026-07-23T20:00:00Z", nights))
    assert.isFalse(at("2026-07-24T05:00:00Z", nights))
  })

  it("begin on the days that are named, and go on into the next", () => {
    const fridays = quietHoursOf({ windows: [{ days: ["fri"], from: "22:00", to: "07:00" }] })
    assert(fridays !== null)
    assert.isFalse(at("2026-11-27T02:00:00Z", fridays, "UTC"))
    assert.isTrue(at("2026-11-27T22:00:00Z", fridays, "UTC"))
    assert.isTrue(at("2026-11-28T06:59:00Z", fridays, "UTC"))
    assert.isFalse(at("2026-11-28T22:00:00Z", fridays, "UTC"))
    const weekend = quietHoursOf({ windows: [{ days: ["sun", "sat"], from: "00:00", to: "00:00" }] })
    assert(weekend !== null)
    assert.deepStrictEqual(weekend.windows[0]?.days, ["sat", "sun"])
    assert.isFalse(at("2026-11-27T23:59:00Z", weekend, "UTC"))
    assert.isTrue(at("2026-11-28T00:00:00Z", weekend, "UTC"))
    assert.isTrue(at("2026-11-29T23:59:00Z", weekend, "UTC"))
    assert.isFalse(at("2026-11-30T00:00:00Z", weekend, "UTC"))
  })

  it("follow a night in which the clocks change", () => {
    const early: QuietHours = { ...nights, windows: [{ days: ["sun"], from: "02:30", to: "03:30" }] }
    // 02:00 is 03:00 on the 29th of March: only the half hour from there is left.
    assert.isFalse(at("2026-03-29T00:59:00Z", early))
    assert.isTrue(at("2026-03-29T01:00:00Z", early))
    assert.isFalse(at("2026-03-29T01:30:00Z", early))
    // 03:00 is 02:00 on the 25th of October: 02:30 comes twice.
    assert.isTrue(at("2026-10-25T00:30:00Z", early))
    assert.isFalse(at("2026-10-25T01:00:00Z", early))
    assert.isTrue(at("2026-10-25T01:30:00Z", early))
    assert.isTrue(at("2026-10-25T02:29:00Z", early))
    assert.isFalse(at("2026-10-25T02:30:00Z", early))
  })

  it("let through what they are told to", () => {
    const down = { provider: "openai", circuit_state: "OPEN" }
    const limit = { quota: "budget", threshold: "warning", window: "daily" }
    const attention = (severity: string) => ({ severity, text: "It ended.", subject: { type: "backup", name: "b" } })
    const ofErrors: QuietHours = { ...nights, passSeverity: "error" }
    assert.isFalse(passes(nights, "provider.error", down))
    assert.isTrue(passes(ofErrors, "provider.error", down))
    assert.isFalse(passes(ofErrors, "provider.error", { ...down, circuit_state: "CLOSED" }))
    assert.isFalse(passes(ofErrors, "quota.exceeded", limit))
    assert.isTrue(passes({ ...nights, passSeverity: "warning" }, "quota.exceeded", limit))
    assert.isTrue(passes({ ...nights, passEvents: ["quota.exceeded"] }, "quota.exceeded", limit))
    assert.isTrue(passes(ofErrors, "attention.raised", attention("error")))
    assert.isFalse(passes(ofErrors, "attention.raised", attention("info")))
  })

  it("are looked at when a minute begins", () => {
    assert.strictEqual(untilNextMinuteMs(noonMs), minuteMs)
    assert.strictEqual(untilNextMinuteMs(noonMs + 1), minuteMs - 1)
    assert.strictEqual(untilNextMinuteMs(-1), 1)
  })
})

const store = Layer.mergeAll(Events.layer, IdGen.layerCounting("event"), TestTimers.layer, reposInMemory)

/** What delivers, of one process; the store is another's, too. */
const process = Deliveries.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Sender.layer, Outbox.layer)),
  Layer.provide(Layer.mergeAll(PublicFetch.layer, Mail.layer)),
  Layer.provide(Flags.layer),
  Layer.provide(layerMemory({ OUTBOUND_SSRF_GUARD_ENABLED: "false" })),
  Layer.provide(UpstreamSettings.layerOf({ connectTimeoutMs: 60_000 })),
  Layer.provide(Layer.mergeAll(Dns.layer, AppConfig.layerOf({ dataDir: "/nowhere" })))
)

const webhookAt = (url: string, quietHours: QuietHours | null, kind: Webhook["kind"] = "custom"): Webhook => ({
  id: "hook",
  url,
  events: ["*"],
  kind,
  mail: null,
  secret: Redacted.make("a secret"),
  enabled: true,
  description: null,
  timeZone: "UTC",
  quietHours,
  createdAtMs: 0,
  lastTriggeredAtMs: null,
  lastStatus: null,
  failureCount: 0
})

const until = <A>(what: string, look: () => A, isFound: (found: A) => boolean) =>
  Effect.promise(() => eventually(what, look, isFound))

const recovered = (provider: string, atMs: number) =>
  Effect.flatMap(Events.Events, ({ publish }) =>
    Effect.sync(() => publish({ type: "provider.recovered", atMs, provider, recoveredAfterMs: null }))
  )

const heldRows = Effect.flatMap(OutboxRepo, (repo) => repo.heldPage("hook", 0, 100))

/** Waits until so many are held. */
const heldAre = (count: number) =>
  Effect.flatMap(OutboxRepo, (repo) =>
    Effect.promise(() =>
      eventually(
        `${count} held events`,
        () => Effect.runPromise(repo.heldPage("hook", 0, 100)),
        ({ length }) => length === count
      )
    )
  )

const started = (quietHours: QuietHours | null, kind?: Webhook["kind"]) =>
  Effect.gen(function* () {
    const receiver = yield* Fake.start
    receiver.always(answering(200))
    yield* (yield* WebhookRepo).insert(webhookAt(receiver.origin, quietHours, kind))
    return receiver
  })

const refreshed = Effect.flatMap(Deliveries.Deliveries, ({ refresh }) => refresh)

describe("events in quiet hours", () => {
  it.scoped("wait for their end, over a restart, and are told once by one event", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(noonMs + 11 * hourMs)
      const receiver = yield* started(nights)
      const first = Effect.gen(function* () {
        yield* refreshed
        yield* recovered("one", noonMs + 11 * hourMs)
        yield* recovered("two", noonMs + 11 * hourMs + 1)
        yield* recovered("one", noonMs + 11 * hourMs + 2)
        yield* heldAre(3)
        yield* TestClock.adjust("1 hour")
      })
      yield* Effect.scoped(Effect.provide(first, Layer.fresh(process)))
      assert.lengthOf(receiver.requests, 0)
      // Another process takes it up, still at night.
      const second = Effect.gen(function* () {
        yield* refreshed
        yield* recovered("three", noonMs + 13 * hourMs)
        yield* heldAre(4)
        yield* TestClock.setTime(noonMs + 19 * hourMs - 1)
        assert.lengthOf(receiver.requests, 0)
        yield* TestClock.adjust(1)
        yield* until(
          "the digest",
          () => receiver.requests,
          ({ length }) => length === 1
        )
        yield* recovered("four", noonMs + 19 * hourMs)
        yield* until(
          "an event of the day",
          () => receiver.requests,
          ({ length }) => length === 2
        )
        yield* TestClock.adjust("2 hours")
      })
      yield* Effect.scoped(Effect.provide(second, Layer.fresh(process)))
      yield* Effect.scoped(Effect.provide(Effect.zipRight(refreshed, TestClock.adjust("1 hour")), Layer.fresh(process)))
      const told = receiver.requests.map(envelopeOf)
      assert.deepStrictEqual(
        told.map(({ event }) => event),
        ["quiet.digest", "provider.recovered"]
      )
      assert(told[0] !== undefined)
      const { data } = told[0]
      assert.deepInclude(data, {
        from: new Date(noonMs + 11 * hourMs).toISOString(),
        to: new Date(noonMs + 13 * hourMs).toISOString(),
        total: 4,
        counts: { "provider.recovered": 4 },
        left_out: 0
      })
      const events = data["events"] as ReadonlyArray<Readonly<Record<string, unknown>>>
      assert.deepStrictEqual(
        events.map(({ count, text }) => [count, text]),
        [
          [2, "one answers again."],
          [1, "two answers again."],
          [1, "three answers again."]
        ]
      )
      assert.lengthOf(yield* heldRows, 0)
    }).pipe(Effect.provide(store))
  )

  it.scoped("are sent at once where they pass, and as one message to people", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(noonMs + 11 * hourMs)
      const receiver = yield* started({ ...nights, passSeverity: "error" }, "slack")
      const { publish } = yield* Events.Events
      const failing = (circuitState: "CLOSED" | "OPEN") => ({
        type: "provider.error" as const,
        atMs: noonMs,
        provider: "openai",
        model: "m",
        connectionId: "c",
        status: 500,
        reason: "server_error" as const,
        consecutiveFailures: 5,
        circuitState
      })
      const night = Effect.gen(function* () {
        yield* refreshed
        // No message for people at any hour: it is not held either.
        publish(failing("CLOSED") as never)
        publish(failing("OPEN") as never)
        yield* until(
          "what passes",
          () => receiver.requests,
          ({ length }) => length === 1
        )
        yield* recovered("openai", noonMs)
        yield* recovered("groq", noonMs)
        yield* heldAre(2)
        yield* TestClock.adjust("8 hours")
        yield* until(
          "the digest",
          () => receiver.requests,
          ({ length }) => length === 2
        )
      })
      yield* Effect.scoped(Effect.provide(night, Layer.fresh(process)))
      const [passed, digest] = receiver.requests.map(({ body }) => body.toString())
      assert.include(passed, "keeps failing")
      assert.include(digest, "2 events were held back")
      assert.include(digest, "groq answers again.")
    }).pipe(Effect.provide(store))
  )

  it.scoped("are told when the clock is set past the end, and when the hours are taken away", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(noonMs + 11 * hourMs)
      const receiver = yield* started(nights)
      const hooks = yield* WebhookRepo
      const run = Effect.gen(function* () {
        yield* refreshed
        yield* recovered("one", noonMs)
        yield* heldAre(1)
        // Back before the beginning: nothing is quiet then.
        yield* TestClock.setTime(noonMs + 9 * hourMs)
        yield* recovered("two", noonMs)
        yield* until(
          "the digest",
          () => receiver.requests,
          ({ length }) => length === 2
        )
        yield* TestClock.setTime(noonMs + 12 * hourMs)
        yield* recovered("three", noonMs)
        yield* heldAre(1)
        const before = webhookAt(receiver.origin, null)
        yield* hooks.update("hook", { ...before, secret: null, failureCount: null })
        yield* refreshed
        yield* until(
          "the second digest",
          () => receiver.requests,
          ({ length }) => length === 3
        )
      })
      yield* Effect.scoped(Effect.provide(run, Layer.fresh(process)))
      const told = receiver.requests.map((request) => envelopeOf(request).event)
      assert.deepStrictEqual(told.toSorted(), ["provider.recovered", "quiet.digest", "quiet.digest"])
    }).pipe(Effect.provide(store))
  )
})
