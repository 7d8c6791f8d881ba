/** What a key may be used for: the order of refusals, patterns, addresses, and schedules across midnight and changes of the clocks. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { makeSchedule } from "../../../src/subjects/auth/AccessSchedule.ts"
import { allowsModel, modelRulesOf, problemOf } from "../../../src/subjects/auth/KeyPolicy.ts"
import { type ApiKey, type ApiKeySettings, unrestricted } from "../../../src/subjects/keys/entity.ts"

const key = (settings: Partial<ApiKeySettings>): ApiKey => ({
  ...unrestricted,
  ...settings,
  name: "k",
  id: "k1",
  prefix: "gw_",
  hash: "0",
  oldSecrets: [],
  createdAtMs: 0,
  lastUsedAtMs: null
})

const monday = Date.UTC(2026, 5, 1, 12)
const weekdays = { enabled: true, from: "08:00", until: "18:00", days: [1, 2, 3, 4, 5], tz: "UTC" }
const here = { socketAddress: "192.0.2.7", category: "chat" } as const

describe("problemOf", () => {
  it("refuses in one order: inactive, expired, schedule, address, endpoint", () => {
    const all: Partial<ApiKeySettings> = {
      isActive: false,
      expiresAtMs: monday,
      accessSchedule: { ...weekdays, days: [0] },
      ipAllowlist: ["198.51.100.0/24"],
      allowedEndpoints: ["models"]
    }
    const order: ReadonlyArray<[string | null, Partial<ApiKeySettings>]> = [
      ["inactive", {}],
      ["expired", { isActive: true }],
      ["schedule", { expiresAtMs: null }],
      ["ip", { accessSchedule: weekdays }],
      ["endpoint", { ipAllowlist: ["192.0.2.0/24"] }],
      [null, { allowedEndpoints: ["chat"] }]
    ]
    for (const [at, [expected]] of order.entries()) {
      const settings = Object.assign({}, all, ...order.slice(0, at + 1).map(([, mended]) => mended))
      assert.strictEqual(problemOf(key(settings), monday, here), expected)
    }
  })

  it("knows no address where the socket is gone, and no category on the management routes", () => {
    assert.strictEqual(
      problemOf(key({ ipAllowlist: ["0.0.0.0/0", "::/0"] }), monday, { ...here, socketAddress: null }),
      "ip"
    )
    assert.isNull(problemOf(key({ allowedEndpoints: ["models"] }), monday, { ...here, category: null }))
  })

  it("keeps a key closed whose stored zone this machine does not know", () => {
    const unknown = key({ accessSchedule: { ...weekdays, tz: "Mars/Olympus" } })
    assert.strictEqual(problemOf(unknown, monday, here), "schedule")
    assert.isNull(problemOf(key({ accessSchedule: { ...weekdays, enabled: false, days: [] } }), monday, here))
  })

  it("has no rules about models for a key of which nothing was said", () => {
    assert.isNull(modelRulesOf(key({ allowedModels: ["x"], ipAllowlist: ["::1"] })))
    assert.isNotNull(modelRulesOf(key({ blockedModels: ["x"] })))
  })
})

describe("allowsModel", () => {
  it("takes exact ids and patterns with * anywhere", () => {
    const limited = { allowedModels: ["openai/*", "groq/llama", "*mini*"] }
    for (const model of ["openai/gpt-4.1", "groq/llama", "up/gpt-mini", "mini", "x/mini-2"]) {
      assert.isTrue(allowsModel(limited, model), model)
    }
    for (const model of ["groq/llama-2", "openaix/gpt", "OPENAI/x", ""]) {
      assert.isFalse(allowsModel(limited, model), model)
    }
    assert.isTrue(allowsModel({ allowedModels: [] }, "any"))
    assert.isTrue(allowsModel({ allowedModels: null }, "any"))
    assert.isTrue(allowsModel({ allowedModels: ["*"] }, "any"))
  })
})

/** Walks every minute of the days before as a person reads a clock, with the zone's own formatter. */
const oracle = (schedule: NonNullable<ApiKeySettings["accessSchedule"]>, nowMs: number): boolean => {
  const [, name = "", clock = ""] =
    /^(\w+),? (\d\d:\d\d)$/.exec(
      new Date(nowMs).toLocaleString("en-GB", {
        timeZone: schedule.tz,
        weekday: "short",
        hour: "2-digit",
        minute: "2-digit",
        hourCycle: "h23"
      })
    ) ?? []
  const today = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].indexOf(name)
  const yesterday = (today + 6) % 7
  const { days, from, until } = schedule
  // Texts of two digits each are in the order of their times.
  if (from < until) return days.includes(today) && from <= clock && clock < until
  return (days.includes(today) && clock >= from) || (days.includes(yesterday) && clock < until)
}

describe("makeSchedule", () => {
  const zones = ["UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, "0")).join(":"))
  // Around the changes of the clocks of 2026 in these zones, and anywhere.
  const changes = [
    "2026-03-29T01:00Z",
    "2026-10-25T01:00Z",
    "2026-03-08T07:00Z",
    "2026-11-01T06:00Z",
    "2026-04-04T15:00Z"
  ]
  const instant = fc.oneof(
    fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -36 * 60, max: 36 * 60 }))
      .map(([at, minutes]) => Date.parse(at) + minutes * 60_000),
    fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) })
  )

  it("agrees with the wall clock of its zone, also over midnight and changes of the clocks", () => {
    fc.assert(
      fc.property(
        fc.record({
          enabled: fc.constant(true),
          from: time,
          until: time,
          days: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1 }),
          tz: fc.constantFrom(...zones)
        }),
        fc.array(instant, { minLength: 1, maxLength: 20 }),
        (schedule, instants) => {
          const isOpen = makeSchedule(schedule)
          for (const nowMs of instants) assert.strictEqual(isOpen?.(nowMs), oracle(schedule, nowMs))
        }
      ),
      { seed: 14, numRuns: 300 }
    )
  })

  it("is open a whole day from begin to begin, and over the night into the day after", () => {
    const whole = makeSchedule({ ...weekdays, from: "06:00", until: "06:00", days: [1] })
    assert.deepStrictEqual(
      [5, 6, 29, 30].map((hours) => whole?.(Date.UTC(2026, 5, 1) + hours * 3_600_000)),
      [false, true, true, false]
    )
  })
})
