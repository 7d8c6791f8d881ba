/** Reports of weeks and months: which are over, their figures, and that each is told once to webhooks that want it. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Scope } from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as Events from "../../../src/observe/Events.ts"
import { layer as reportsLayer, makeLooks } from "../../../src/subjects/bills/Reports.ts"
import { idOfPeriod, lastPeriod, untilNextMs } from "../../../src/subjects/bills/SpendReports.ts"
import { dataOf } from "../../../src/subjects/webhooks/EventData.ts"
import type { WebhookEvent } from "../../../src/subjects/webhooks/entity.ts"
import { Outbox } from "../../../src/subjects/webhooks/Outbox.ts"
import { OutboxRepo } from "../../../src/subjects/webhooks/OutboxRepo.ts"
import { WebhookRepo } from "../../../src/subjects/webhooks/repo.ts"
import { eventually } from "../../support/eventually.ts"
import { put, rowAt } from "../../support/UsageLog.ts"
import { layerOf } from "../management/support.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A Monday. */
const mondayMs = Date.UTC(2026, 10, 23)
const nanoUsd = 1_000_000_000

const makeLook = Effect.map(makeLooks, ({ look }) => look)

const wantIn = (timeZone: string, ...events: ReadonlyArray<WebhookEvent>) =>
  Effect.gen(function* () {
    const hooks = yield* WebhookRepo
    yield* hooks.insert({
      id: `hook in ${timeZone}`,
      url: "https://hooks.example.com/",
      events,
      kind: "custom",
      mail: null,
      secret: Redacted.make("secret"),
      // What is delivered, and how, is tested elsewhere.
      enabled: true,
      description: null,
      timeZone,
      quietHours: null,
      createdAtMs: mondayMs,
      lastTriggeredAtMs: null,
      lastStatus: null,
      failureCount: 0
    })
    yield* (yield* Outbox).refresh
  })

const want = (...events: ReadonlyArray<WebhookEvent>) => wantIn("UTC", ...events)

const spend = (atMs: number, n: number, apiKeyId: string, usd: number) =>
  rowAt(atMs, n, { apiKeyId, provider: "one", model: `model-${apiKeyId}`, costNanoUsd: usd * nanoUsd })

const told = Effect.map(Events.Events, (events) => {
  const all: Array<Events.GatewayEvent> = []
  events.listen((event) => {
    if (event.type === "report.weekly" || event.type === "report.monthly") all.push(event)
  })
  return all
})

/** All services at a time, which is set before they start: their timers would catch up. */
const at = <A, E>(nowMs: number, use: Effect.Effect<A, E, Scope | Layer.Layer.Success<ReturnType<typeof layerOf>>>) =>
  Effect.zipRight(TestClock.setTime(nowMs), Effect.provide(Effect.scoped(use), layerOf()))

describe("periods", () => {
  it("are weeks from Monday and months that are over", () => {
    const dayOf = (period: "weekly" | "monthly", atMs: number, timeZone = "UTC") =>
      idOfPeriod({ period, timeZone }, lastPeriod({ period, timeZone }, atMs))
    assert.strictEqual(dayOf("weekly", mondayMs), "weekly/2026-11-16")
    assert.strictEqual(dayOf("weekly", mondayMs - 1), "weekly/2026-11-09")
    assert.strictEqual(dayOf("weekly", mondayMs + 7 * dayMs - 1), "weekly/2026-11-16")
    assert.strictEqual(dayOf("monthly", Date.UTC(2027, 0, 1)), "monthly/2026-12-01")
    assert.strictEqual(dayOf("monthly", Date.UTC(2027, 0, 1) - 1), "monthly/2026-11-01")
    const weekly = { period: "weekly", timeZone: "UTC" } as const
    assert.deepStrictEqual(lastPeriod(weekly, mondayMs), { fromMs: mondayMs - 7 * dayMs, untilMs: mondayMs })
    assert.strictEqual(untilNextMs("UTC", mondayMs - 5), 5)
    // December begins on a Tuesday.
    assert.strictEqual(untilNextMs("UTC", mondayMs), 7 * dayMs)
    assert.strictEqual(untilNextMs("UTC", Date.UTC(2026, 10, 30)), dayMs)
    // In Tokyo it is Monday nine hours before.
    assert.strictEqual(dayOf("weekly", mondayMs - 9 * hourMs, "Asia/Tokyo"), "weekly/2026-11-16/Asia/Tokyo")
    assert.strictEqual(dayOf("weekly", mondayMs - 9 * hourMs - 1, "Asia/Tokyo"), "weekly/2026-11-09/Asia/Tokyo")
    assert.strictEqual(
      dayOf("monthly", Date.UTC(2026, 10, 1, 3), "America/New_York"),
      "monthly/2026-09-01/America/New_York"
    )
  })

  it("are an hour longer or shorter where the clocks change", () => {
    const hoursOf = (period: "weekly" | "monthly", atMs: number) => {
      const { fromMs, untilMs } = lastPeriod({ period, timeZone: "Europe/Zurich" }, atMs)
      return (untilMs - fromMs) / hourMs
    }
    assert.strictEqual(hoursOf("weekly", Date.UTC(2026, 2, 30)), 167)
    assert.strictEqual(hoursOf("weekly", Date.UTC(2026, 9, 26)), 169)
    assert.strictEqual(hoursOf("monthly", Date.UTC(2026, 10, 2)), 31 * 24 + 1)
  })
})

describe("reports", () => {
  it.effect("have the figures of the week, of the five that cost the most, and of the week before, and come once", () =>
    at(
      mondayMs + 60_000,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inWeek = Array.from({ length: 7 }, (_, n) => spend(mondayMs - (n + 1) * 3_600_000, n, `key-${n}`, n + 1))
        yield* put([
          ...inWeek,
          spend(mondayMs - 8 * dayMs, 20, "key-1", 10),
          // The week that runs.
          spend(mondayMs + 1, 21, "key-1", 100)
        ])
        yield* sql`INSERT INTO key_owners (api_key_id, user_id, team_id, from_ms, until_ms) VALUES ('key-6', 'ada', NULL, 0, NULL)`
        yield* want("report.weekly")
        const all = yield* told
        const look = yield* makeLook
        yield* look
        assert.lengthOf(all, 1)
        const [event] = all
        assert(event !== undefined)
        const data = dataOf(event)
        assert.deepInclude(data, {
          period: "weekly",
          from: "2026-11-16T00:00:00.000Z",
          to: "2026-11-23T00:00:00.000Z",
          requests: 7,
          cost_usd: 28,
          billed_usd: 28,
          previous_cost_usd: 10
        })
        const costs = (data["top_keys"] as ReadonlyArray<{ readonly id: string; readonly cost_usd: number }>).map(
          ({ cost_usd, id }) => [id, cost_usd]
        )
        assert.deepStrictEqual(costs, [
          ["key-6", 7],
          ["key-5", 6],
          ["key-4", 5],
          ["key-3", 4],
          ["key-2", 3]
        ])
        const people = data["top_people"] as ReadonlyArray<{ readonly id: string | null; readonly cost_usd: number }>
        assert.deepStrictEqual(
          people.map(({ cost_usd, id }) => [id, cost_usd]),
          [
            [null, 21],
            ["ada", 7]
          ]
        )
        yield* look
        // Another gateway on the database looks, too.
        yield* yield* makeLook
        assert.lengthOf(all, 1)
      })
    )
  )

  const inZones = Effect.gen(function* () {
    yield* put([
      spend(mondayMs - 10 * hourMs, 1, "key-1", 1),
      // Sunday in UTC, and Monday in Tokyo.
      spend(mondayMs - 8 * hourMs, 2, "key-1", 2)
    ])
    yield* want("report.weekly")
    yield* wantIn("Asia/Tokyo", "report.weekly", "report.monthly")
    const { look, pause } = yield* makeLooks
    yield* look
    yield* (yield* Outbox).flush
    const outbox = yield* OutboxRepo
    const toldIn = (timeZone: string) =>
      Effect.map(outbox.page(`hook in ${timeZone}`, 0, 10), (rows) =>
        rows.map(({ data }) => JSON.parse(data) as Readonly<Record<string, unknown>>)
      )
    return { inTokyo: yield* toldIn("Asia/Tokyo"), inUtc: yield* toldIn("UTC"), pause }
  })

  it.effect("are those of the time zone of each webhook", () =>
    at(
      mondayMs - 9 * hourMs,
      Effect.gen(function* () {
        const { inTokyo, inUtc } = yield* inZones
        assert.lengthOf(inUtc, 0)
        assert.lengthOf(inTokyo, 1)
        assert.deepInclude(inTokyo[0], {
          time_zone: "Asia/Tokyo",
          first_day: "2026-11-16",
          from: "2026-11-15T15:00:00.000Z",
          to: "2026-11-22T15:00:00.000Z",
          cost_usd: 1
        })
      })
    )
  )

  it.effect("go to the webhooks of the time zone alone, and are looked for when a week begins in one of them", () =>
    at(
      mondayMs + 7 * dayMs - 9 * hourMs - 5,
      Effect.gen(function* () {
        const { inTokyo, inUtc, pause } = yield* inZones
        assert.lengthOf(inTokyo, 0)
        assert.lengthOf(inUtc, 0)
        const paused = yield* Effect.fork(pause)
        yield* TestClock.adjust(5)
        yield* Fiber.join(paused)
      })
    )
  )

  it.effect("are one of each zone where its week is over in both", () =>
    at(
      mondayMs,
      Effect.gen(function* () {
        const { inTokyo, inUtc } = yield* inZones
        assert.deepStrictEqual(
          [...inUtc, ...inTokyo].map(({ cost_usd, time_zone }) => [time_zone, cost_usd]),
          [
            ["UTC", 3],
            ["Asia/Tokyo", 1]
          ]
        )
      })
    )
  )

  it.effect("are told once by two processes on one database that look at once", () =>
    at(
      mondayMs,
      Effect.gen(function* () {
        yield* want("report.weekly")
        yield* wantIn("Asia/Tokyo", "report.weekly")
        const all = yield* told
        const looks = yield* Effect.all([makeLook, makeLook, makeLook])
        yield* Effect.all(looks, { concurrency: "unbounded" })
        yield* Effect.all(looks, { concurrency: "unbounded" })
        const zones = all.map((event) => dataOf(event)["time_zone"])
        assert.deepStrictEqual(zones.toSorted(), ["Asia/Tokyo", "UTC"])
      })
    )
  )

  it.effect("are told of what a webhook wants, and not when the time is long past", () =>
    at(
      Date.UTC(2026, 11, 1, 1),
      Effect.gen(function* () {
        const all = yield* told
        const look = yield* makeLook
        yield* look
        assert.lengthOf(all, 0)
        yield* want("report.monthly")
        yield* look
        assert.deepStrictEqual(
          all.map(({ type }) => type),
          ["report.monthly"]
        )
      })
    )
  )

  it.effect("are not told three days after the end", () =>
    at(
      mondayMs + 3 * dayMs + 1,
      Effect.gen(function* () {
        yield* want("report.weekly")
        const all = yield* told
        yield* yield* makeLook
        assert.lengthOf(all, 0)
      })
    )
  )

  it.effect("come by themselves", () =>
    at(
      mondayMs + 1,
      Effect.gen(function* () {
        yield* want("report.weekly")
        const all = yield* told
        yield* Layer.build(reportsLayer)
        yield* Effect.promise(() =>
          eventually(
            "the report",
            () => all.length,
            (found) => found > 0
          )
        )
        assert.strictEqual(all[0]?.type, "report.weekly")
      })
    )
  )
})
