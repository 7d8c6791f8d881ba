/** Reports of weeks and months: which are over, their figures, and that each is told once to webhooks that want it. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Scope } from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as Events from "../../../src/observe/Events.ts"
import { layer as reportsLayer, makeLook } from "../../../src/subjects/bills/Reports.ts"
import { idOfPeriod, lastPeriod, untilNextMs } from "../../../src/subjects/bills/SpendReports.ts"
import { dataOf } from "../../../src/subjects/webhooks/EventData.ts"
import type { WebhookEvent } from "../../../src/subjects/webhooks/entity.ts"
import { Outbox } from "../../../src/subjects/webhooks/Outbox.ts"
import { WebhookRepo } from "../../../src/subjects/webhooks/repo.ts"
import { eventually } from "../../support/eventually.ts"
import { put, rowAt } from "../../support/UsageLog.ts"
import { layerOf } from "../management/support.ts"

const dayMs = 86_400_000
/** A Monday. */
const mondayMs = Date.UTC(2026, 10, 23)
const nanoUsd = 1_000_000_000

const want = (...events: ReadonlyArray<WebhookEvent>) =>
  Effect.gen(function* () {
    const hooks = yield* WebhookRepo
    yield* hooks.insert({
      id: "hook",
      url: "https://hooks.example.com/",
      events,
      kind: "custom",
      mail: null,
      secret: Redacted.make("secret"),
      // What is delivered, and how, is tested elsewhere.
      enabled: true,
      description: null,
      createdAtMs: mondayMs,
      lastTriggeredAtMs: null,
      lastStatus: null,
      failureCount: 0
    })
    yield* (yield* Outbox).refresh
  })

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
  it("are weeks from Monday and months, both of UTC, that are over", () => {
    const dayOf = (period: "weekly" | "monthly", atMs: number) => idOfPeriod(period, lastPeriod(period, atMs))
    assert.strictEqual(dayOf("weekly", mondayMs), "weekly/2026-11-16")
    assert.strictEqual(dayOf("weekly", mondayMs - 1), "weekly/2026-11-09")
    assert.strictEqual(dayOf("weekly", mondayMs + 7 * dayMs - 1), "weekly/2026-11-16")
    assert.strictEqual(dayOf("monthly", Date.UTC(2027, 0, 1)), "monthly/2026-12-01")
    assert.strictEqual(dayOf("monthly", Date.UTC(2027, 0, 1) - 1), "monthly/2026-11-01")
    assert.deepStrictEqual(lastPeriod("weekly", mondayMs), { fromMs: mondayMs - 7 * dayMs, untilMs: mondayMs })
    assert.strictEqual(untilNextMs(mondayMs), 7 * dayMs)
    assert.strictEqual(untilNextMs(mondayMs - 5), 5)
    // December begins on a Tuesday.
    assert.strictEqual(untilNextMs(Date.UTC(2026, 10, 30)), dayMs)
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
