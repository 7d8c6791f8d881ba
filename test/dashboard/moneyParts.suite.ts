/** Months and forecasts, tables of two dimensions, the burn-down of a budget, files, and what a form compares: the pure parts of keys and money. */
import { assert, describe, it } from "vitest"
import type { Operation } from "../../src/dashboard/forms/operations.ts"
import { objectIn, shapedLike } from "../../src/dashboard/forms/present.ts"
import { addressOf } from "../../src/dashboard/forms/send.ts"
import { csvOf } from "../../src/dashboard/views/keys/exportFile.ts"
import { burnOf } from "../../src/dashboard/views/keys/key/burn.ts"
import {
  changeOf,
  dayText,
  daysIn,
  forecastOf,
  movedBy,
  perDayOf,
  raisedLimit,
  readMonth,
  textOfMonth
} from "../../src/dashboard/views/keys/money/period.ts"
import {
  readDimensions,
  stackedBy,
  stacksOf,
  tableOf,
  tableOfDays
} from "../../src/dashboard/views/keys/money/split.ts"

describe("months", () => {
  it("are read, moved and have their days, also over the turn of years", () => {
    assert.deepStrictEqual(readMonth("2026-11"), { year: 2026, month: 11 })
    for (const text of ["2026-13", "2026-00", "2026-1", "x", ""]) assert.isNull(readMonth(text), text)
    assert.strictEqual(textOfMonth(movedBy({ year: 2026, month: 1 }, -1)), "2025-12")
    assert.strictEqual(textOfMonth(movedBy({ year: 2026, month: 12 }, 1)), "2027-01")
    assert.deepStrictEqual([daysIn({ year: 2024, month: 2 }), daysIn({ year: 2026, month: 2 })], [29, 28])
    assert.strictEqual(dayText({ year: 2026, month: 12 }, 32), "2027-01-01")
  })

  it("are forecast from the last seven days that are over, and not on their first day", () => {
    assert.isNull(forecastOf([4], 30))
    const costs = [100, ...Array.from({ length: 7 }, () => 2), 0.5]
    const forecast = forecastOf(costs, 30)
    assert.deepInclude(forecast, { perDay: 2, restOfToday: 1.5, days: 21 })
    assert.closeTo(forecast?.month ?? 0, 114.5 + 1.5 + 42, 1e-9)
    // A day that is dearer than others so far is not made cheaper.
    assert.strictEqual(forecastOf([1, 1, 5], 3)?.restOfToday, 0)
  })

  it("change by a part of what was before, where there was something", () => {
    assert.closeTo(changeOf(118, 100) ?? 0, 0.18, 1e-12)
    assert.isNull(changeOf(5, 0))
  })

  it("have the tightest limit of a budget on each day", () => {
    assert.strictEqual(perDayOf({ dailyLimitUsd: 10, weeklyLimitUsd: 35, monthlyLimitUsd: 0 }, 30), 5)
    assert.strictEqual(perDayOf({ dailyLimitUsd: 0, weeklyLimitUsd: 0, monthlyLimitUsd: 60 }, 30), 2)
    assert.isNull(perDayOf({ dailyLimitUsd: 0, weeklyLimitUsd: 0, monthlyLimitUsd: 0 }, 30))
  })
})

describe("a raised limit", () => {
  it("is a round number a quarter above at least, of whatever size", () => {
    const raised = [0.0004, 0.5, 1, 7.99, 8, 10, 99, 1_000, 12_345].map(raisedLimit)
    assert.deepStrictEqual(raised, [0.0005, 0.8, 1.5, 10, 10, 15, 150, 1_500, 20_000])
    for (let limit = 0.01; limit < 1_000; limit *= 1.37) {
      assert.isAtLeast(raisedLimit(limit), limit * 1.2499)
      assert.isAtMost(raisedLimit(limit), limit * 2.01)
    }
  })
})

const words = { none: "none", others: "others" }

describe("costs of two dimensions", () => {
  it("have never the same one twice, and are stacked by the one that is no day", () => {
    assert.deepStrictEqual(readDimensions(undefined, undefined), ["model", "apiKey"])
    assert.deepStrictEqual(readDimensions("apiKey", "apiKey"), ["apiKey", "model"])
    assert.deepStrictEqual(readDimensions("combo", "combo"), ["combo", "apiKey"])
    assert.deepStrictEqual(readDimensions("<b>", "day"), ["model", "day"])
    assert.strictEqual(stackedBy(["day", "provider"]), "provider")
  })

  it("are stacked by the dearest names, not those with the most requests; all others are one", () => {
    const stacks = stacksOf(
      {
        series: [
          { key: "cheap", name: null, costUsd: [1, 0] },
          { key: "dear", name: "Dear", costUsd: [0, 9] },
          { key: null, name: null, costUsd: [2, 2] },
          { key: "free", name: null, costUsd: [0, 0] }
        ],
        rest: { costUsd: [0.5, 0] }
      },
      2,
      words
    )
    assert.deepStrictEqual(
      stacks.map(({ costs, name, total }) => [name, costs, total]),
      [
        ["Dear", [0, 9], 9],
        ["none", [2, 2], 4],
        ["others", [1.5, 0], 1.5]
      ]
    )
  })

  it("make a table whose cells add up, with what has no column of its own in the last one", () => {
    const pair = (key: string | null, andKey: string, costUsd: number) => ({
      key,
      name: key,
      andKey,
      andName: andKey,
      costUsd
    })
    const pairs = [pair("a", "x", 3), pair("a", "y", 2), pair("b", "z", 4), pair("b", "w", 1), pair(null, "x", 1)]
    assert.deepStrictEqual(tableOf(pairs, 3, words), {
      columns: ["x", "z", "others"],
      rows: [
        { name: "a", key: "a", costs: [3, 0, 2], total: 5 },
        { name: "b", key: "b", costs: [0, 4, 1], total: 5 },
        { name: "none", key: null, costs: [1, 0, 0], total: 1 }
      ]
    })
    assert.deepStrictEqual(tableOf(pairs, 4, words).columns, ["x", "z", "y", "w"])
    const days = tableOfDays(["1", "2"], [{ key: "a", name: "a", costs: [1, 2], total: 3 }])
    assert.deepStrictEqual(days.rows, [
      { name: "2", key: "2", costs: [2], total: 2 },
      { name: "1", key: "1", costs: [1], total: 1 }
    ])
  })
})

describe("a budget that burns down", () => {
  const hour = 3_600_000
  const iso = (hours: number): string => new Date(hours * hour).toISOString()
  const window = { windowStart: iso(0), nextResetAt: iso(10), limitUsd: 10, spentUsd: 4 }
  const steps = {
    starts: Array.from({ length: 10 }, (_, n) => iso(n)),
    end: iso(10),
    costs: [1, 2, 0, 0, 0, 0, 0, 0, 0, 0]
  }

  it("falls by what each hour has cost, and ends now at what the budget counts", () => {
    const { expected, left } = burnOf(window, steps, 2.5 * hour)
    assert.deepStrictEqual(left, [
      { x: 0, y: 1 },
      { x: 0.1, y: 0.9 },
      { x: 0.2, y: 0.7 },
      { x: 0.25, y: 0.6 }
    ])
    // 4 in 2.5 hours are 10 in 6.25.
    assert.deepStrictEqual(expected, [
      { x: 0.25, y: 0.6 },
      { x: 0.625, y: 0 }
    ])
  })

  it("ends above nothing where the pace leaves something, and has no line on where all is spent", () => {
    const slow = burnOf({ ...window, spentUsd: 1 }, steps, 5 * hour)
    assert.deepStrictEqual(slow.expected.at(-1), { x: 1, y: 0.8 })
    assert.deepStrictEqual(burnOf({ ...window, spentUsd: 11 }, steps, 5 * hour).expected, [])
    assert.deepStrictEqual(burnOf({ ...window, spentUsd: 0 }, steps, 5 * hour).expected, [])
  })
})

describe("a file", () => {
  it("quotes what has to be, and makes no formula of a name", () => {
    const rows = [
      { name: 'a "b", c', cost: 0.5 },
      { name: "=HYPERLINK(1)", cost: null },
      { name: "@x", cost: -1 }
    ]
    assert.strictEqual(csvOf(rows), `name,cost\r\n"a ""b"", c",0.5\r\n'=HYPERLINK(1),\r\n'@x,-1\r\n`)
  })
})

describe("what a form compares", () => {
  it("is the object in the answer, in the shape of the body", () => {
    const answer = { key: { id: "1", name: "ci", rules: { a: 1, b: 2 }, list: [1] }, other: { x: 1 } }
    const body = { name: "new", rules: { a: 5 } }
    assert.deepStrictEqual(shapedLike(objectIn(answer, body), body), { name: "ci", rules: { a: 1 } })
    assert.deepStrictEqual(objectIn({ name: "top", key: { name: "in" } }, body), { name: "top", key: { name: "in" } })
    assert.deepStrictEqual(shapedLike(objectIn(["list"], body), body), ["list"])
    assert.deepStrictEqual(shapedLike(answer.key, { list: [2], added: 1 }), { list: [1] })
  })

  it("is read at the address of the object, without what only the change knows", () => {
    const parameter = (name: string, place: "path" | "query") => ({
      name,
      in: place,
      isRequired: true,
      description: "",
      schema: {}
    })
    const operation = {
      path: "/api/x/{id}",
      parameters: [parameter("id", "path"), parameter("force", "query")]
    } as unknown as Operation
    assert.match(
      addressOf({ ...operation, parameters: operation.parameters.slice(0, 1) }, { id: "a b", force: "1" }),
      /api\/x\/a%20b$/
    )
  })
})
