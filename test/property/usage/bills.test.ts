/** Bills say what the log says: to the last part of a nano-USD in all, and by whose key it was when each request came. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import type * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import { billDimensions, type BillLine } from "../../../src/subjects/bills/entity.ts"
import { billed, grouped, spanOfMonth, totalOf } from "../../../src/subjects/bills/rules.ts"
import { Bills } from "../../../src/subjects/bills/service.ts"
import { UsageSumsRepo } from "../../../src/subjects/usage/UsageSumsRepo.ts"
import { layerOf } from "../../unit/management/support.ts"
import { put, rowAt, sumAll } from "../../support/UsageLog.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const beginMs = Date.UTC(2026, 8, 29)

const pick = <A>(...all: ReadonlyArray<A>) => FastCheck.constantFrom(...all)

const facts = FastCheck.record({
  /** Near the ends of the month as well. */
  atMs: FastCheck.oneof(
    FastCheck.integer({ min: 0, max: 36 * dayMs }),
    FastCheck.integer({ min: dayMs, max: 3 * dayMs }),
    FastCheck.integer({ min: 32 * dayMs, max: 34 * dayMs })
  ),
  apiKeyId: pick("key-1", "key-2", "key-3", null),
  provider: pick("one", "two"),
  model: pick("m", "n"),
  costNanoUsd: FastCheck.integer({ min: 0, max: 1_000_000 }),
  priced: FastCheck.boolean()
})
type Facts = typeof facts extends FastCheck.Arbitrary<infer A> ? A : never

/** A key belongs to others from a time on, close to requests of it. */
const move = FastCheck.record({
  atMs: FastCheck.integer({ min: 0, max: 36 * dayMs }),
  key: pick("key-1", "key-2"),
  person: pick("ada", "bo", null),
  team: pick("research", "sales", null)
})
type Move = typeof move extends FastCheck.Arbitrary<infer A> ? A : never

const rowOf = ({ atMs, costNanoUsd, ...more }: Facts, n: number): UsageRow =>
  rowAt(beginMs + atMs, n, {
    ...more,
    costNanoUsd: costNanoUsd / 64,
    tokens: { in: n, out: n % 7, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  })

interface Owned {
  readonly key: string
  readonly person: string | null
  readonly team: string | null
  readonly fromMs: number
  readonly untilMs: number | null
}

const ownedOf = (moves: ReadonlyArray<Move>): ReadonlyArray<Owned> =>
  ["key-1", "key-2"].flatMap((key) => {
    const own = moves.filter((each) => each.key === key).toSorted((one, other) => one.atMs - other.atMs)
    return own.map(({ atMs, person, team }, place) => {
      const next = own[place + 1]
      return { key, person, team, fromMs: beginMs + atMs, untilMs: next === undefined ? null : beginMs + next.atMs }
    })
  })

const storeOwners = (all: ReadonlyArray<Owned>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(
      all,
      ({ fromMs, key, person, team, untilMs }) =>
        sql`INSERT INTO key_owners (api_key_id, user_id, team_id, from_ms, until_ms) VALUES (${key}, ${person}, ${team}, ${fromMs}, ${untilMs})`,
      { discard: true }
    )
  )

/** The lines of some rows, one by one. */
const expected = (rows: ReadonlyArray<UsageRow>, owned: ReadonlyArray<Owned>): ReadonlyArray<BillLine> =>
  rows.map((row) => {
    const at = row.timestampMs
    const owner = owned.find(
      ({ fromMs, key, untilMs }) => key === row.apiKeyId && fromMs <= at && (untilMs === null || untilMs > at)
    )
    return {
      person: owner?.person ?? "",
      team: owner?.team ?? "",
      key: row.apiKeyId ?? "",
      model: row.model ?? "",
      provider: row.provider ?? "",
      requests: 1,
      unpriced: row.priced ? 0 : 1,
      tokensIn: row.tokens.in,
      tokensOut: row.tokens.out,
      costNanoUsd: row.costNanoUsd
    }
  })

const sorted = (lines: ReadonlyArray<BillLine>) =>
  grouped(billed(lines, {}), billDimensions).toSorted((one, other) =>
    JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
  )

/** Month of the rows, and the time of the look: once with sums by hour of all of it, once with days of its beginning. */
const looks = [Date.UTC(2026, 10, 6), Date.UTC(2026, 10, 25)] as const
const month = "2026-10"
const zones = ["UTC", "Europe/Zurich", "Asia/Kathmandu", "America/Los_Angeles"]

const runs = FastCheck.sample(
  FastCheck.record({
    facts: FastCheck.array(facts, { minLength: 60, maxLength: 90 }),
    moves: FastCheck.array(move, { minLength: 2, maxLength: 8 }),
    summed: FastCheck.integer({ min: 0, max: 90 }),
    timeZone: pick(...zones),
    nowMs: pick(...looks)
  }),
  { numRuns: 16, seed: 20_261_127 }
)

const within = (rows: ReadonlyArray<UsageRow>, of: string, timeZone: string): ReadonlyArray<UsageRow> => {
  const { fromMs, untilMs } = spanOfMonth(of, timeZone)
  return rows.filter(({ timestampMs }) => timestampMs >= fromMs && timestampMs < untilMs)
}

/** Moves a few milliseconds beside requests, so that hours are divided. */
const closeTo = (moves: ReadonlyArray<Move>, rows: ReadonlyArray<UsageRow>): ReadonlyArray<Move> =>
  moves.map((each, n) => {
    const near = rows[(n * 7) % rows.length]
    return n % 2 === 0 || near === undefined ? each : { ...each, atMs: near.timestampMs - beginMs + (n % 3) - 1 }
  })

/** Runs with the services of a gateway that begin at a time: their timers need not catch up with it. */
const at =
  (nowMs: number) =>
  <A, E>(use: Effect.Effect<A, E, Layer.Layer.Success<ReturnType<typeof layerOf>>>) =>
    Effect.zipRight(TestClock.setTime(nowMs), Effect.provide(use, layerOf()))

describe("bills", () => {
  for (const [run, { facts: all, moves, nowMs, summed, timeZone }] of runs.entries()) {
    it.effect(`${run}: of ${timeZone} add up to the log and count requests for whose key it was`, () =>
      Effect.gen(function* () {
        const bills = yield* Bills
        const rows = all.map(rowOf)
        const owned = ownedOf(closeTo(moves, rows))
        yield* storeOwners(owned)
        yield* put(rows.slice(0, summed))
        yield* sumAll
        yield* put(rows.slice(summed))
        const own = within(rows, month, timeZone)
        const { report } = yield* bills.bill({ month, timeZone })
        assert.deepStrictEqual(sorted(report.lines), sorted(expected(own, owned)))
        for (const by of [[], ["person"], ["team", "model"], ["key", "provider", "person"]] as const) {
          assert.deepStrictEqual(
            totalOf(grouped(billed(report.lines, {}), by)),
            totalOf(billed(expected(own, owned), {}))
          )
        }
      }).pipe(at(nowMs))
    )
  }

  for (const [run, { facts: all, moves, summed, timeZone }] of runs.slice(0, 6).entries()) {
    it.effect(`${run}: of ${timeZone} that are closed stay as they are, and what comes later is in the next`, () =>
      Effect.gen(function* () {
        const bills = yield* Bills
        const rows = all.map(rowOf)
        const owned = ownedOf(closeTo(moves, rows))
        yield* storeOwners(owned)
        const early = rows.slice(0, 40)
        const late = rows.slice(40)
        yield* put(early)
        if (summed % 2 === 0) yield* sumAll
        const asked = { month, timeZone }
        assert.strictEqual((yield* Effect.flip(bills.close({ month: "2026-12", timeZone })))._tag, "StateConflict")
        const closed = yield* bills.close(asked)
        assert.strictEqual((yield* Effect.flip(bills.close(asked)))._tag, "StateConflict")
        yield* put(late)
        if (summed % 3 === 0) yield* sumAll
        assert.deepStrictEqual(yield* bills.bill(asked), closed)
        assert.strictEqual(closed.closed?.isIntact, true)
        assert.deepStrictEqual(sorted(closed.report.lines), sorted(expected(within(early, month, timeZone), owned)))

        const next = yield* bills.close({ month: "2026-11", timeZone })
        assert.deepStrictEqual(
          sorted(next.report.corrections.map(({ month: _month, ...line }) => line)),
          sorted(expected(within(late, month, timeZone), owned))
        )
        assert.isTrue(next.report.corrections.every((line) => line.month === month))
        const { report } = yield* bills.bill({ month: "2026-12", timeZone })
        assert.deepStrictEqual(report.corrections, [])
      }).pipe(at(Date.UTC(2026, 11, 2)))
    )
  }

  it.effect("keep all that was spent when rows are deleted", () =>
    Effect.gen(function* () {
      const nowMs = looks[0]
      const bills = yield* Bills
      const sums = yield* UsageSumsRepo
      const [run] = runs
      const rows = (run?.facts ?? []).map(rowOf)
      yield* storeOwners(ownedOf(closeTo(run?.moves ?? [], rows)))
      yield* put(rows)
      yield* sumAll
      while ((yield* sums.deleteSome({ _tag: "Before", beforeMs: beginMs + 20 * dayMs }, 1_000_000, nowMs)) > 0);
      const { report } = yield* bills.bill({ month, timeZone: "Europe/Zurich" })
      assert.deepStrictEqual(
        totalOf(billed(report.lines, {})),
        totalOf(billed(expected(within(rows, month, "Europe/Zurich"), []), {}))
      )
    }).pipe(at(looks[0]))
  )

  it.effect("show that a closed report was changed", () =>
    Effect.gen(function* () {
      const bills = yield* Bills
      const sql = yield* SqlClient.SqlClient
      yield* put((runs[0]?.facts ?? []).map(rowOf))
      yield* bills.close({ month, timeZone: "UTC" })
      yield* sql`UPDATE bills SET report = REPLACE(report, '"requests":1,', '"requests":2,')`
      assert.strictEqual((yield* bills.bill({ month, timeZone: "UTC" })).closed?.isIntact, false)
    }).pipe(at(looks[0]))
  )
})
