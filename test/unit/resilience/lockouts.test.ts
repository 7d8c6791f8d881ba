import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SettingsRepo from "../../../src/subjects/settings/repo.ts"
import * as Sql from "../../../src/store/Sql.ts"
import { capacity as holdsCapacity } from "../../../src/plane/resilience/lockout/QuotaHolds.ts"
import type { LockoutKey } from "../../../src/plane/resilience/lockout/LockoutKey.ts"
import * as Lockouts from "../../../src/plane/resilience/lockout/Lockouts.ts"
import { settingsOf, started } from "./support.ts"

const key: LockoutKey = { provider: "openai", connectionId: "c1", model: "m" }
const failure = (status: number, hintMs: number | null = null) => ({ status, reason: "rate_limit", hintMs })
const minute = 60_000
const on = settingsOf({ modelLockout: { enabled: true } })

const table = SettingsRepo.layer.pipe(Layer.provide(Sql.layerMemory))

const withLockouts = <A>(
  settings: ReturnType<typeof settingsOf>,
  use: (lockouts: typeof Lockouts.Lockouts.Service) => A
) =>
  Effect.map(started(Lockouts.Lockouts, Lockouts.layer), use).pipe(
    Effect.provide(settings.layer),
    Effect.provide(table)
  )

describe("holds", () => {
  const hour = 60 * minute
  const off = settingsOf()

  it.scoped("keep a used-up model out although lockouts are off, until its window opens, the longer one of two", () =>
    withLockouts(off, (lockouts) => {
      lockouts.hold(key, 0, "quota_exhausted", 2 * hour)
      lockouts.hold(key, minute, "quota_exhausted", hour)
      lockouts.fail(key, 0, failure(429))
      lockouts.succeed(key)
      assert.strictEqual(lockouts.waitMs(key, minute), 119 * minute)
      assert.deepStrictEqual(lockouts.list(minute), [
        {
          ...key,
          reason: "quota_exhausted",
          failureCount: 1,
          lockedAtMs: 0,
          untilMs: 2 * hour,
          remainingMs: 119 * minute
        }
      ])
      for (const other of [{ model: "n" }, { connectionId: "c2" }, { provider: "groq" }]) {
        assert.strictEqual(lockouts.waitMs({ ...key, ...other }, 0), 0)
      }
      assert.strictEqual(lockouts.waitMs(key, 2 * hour), 0)
      assert.deepStrictEqual(lockouts.list(2 * hour), [])
    })
  )

  it.scoped("stand beside lockouts: the longer counts, and one word clears both", () =>
    withLockouts(on, (lockouts) => {
      lockouts.fail(key, 0, failure(429))
      lockouts.hold(key, 0, "quota_exhausted", minute)
      assert.strictEqual(lockouts.waitMs(key, 0), 2 * minute)
      lockouts.hold(key, 0, "quota_exhausted", hour)
      assert.strictEqual(lockouts.waitMs(key, 0), hour)
      assert.lengthOf(lockouts.list(0), 1)
      assert.strictEqual(lockouts.clear({ connectionId: "c1" }), 1)
      assert.deepStrictEqual([lockouts.waitMs(key, 0), lockouts.list(0)], [0, []])
    })
  )

  it.scoped("outlive a restart, and are forgotten when they are cleared or over", () =>
    Effect.gen(function* () {
      const running = started(Lockouts.Lockouts, Lockouts.layer)
      const over = { ...key, model: "over" }
      const cleared = { ...key, model: "cleared" }
      const first = yield* running
      for (const held of [key, over, cleared]) {
        first.hold(held, 0, "quota_exhausted", held === over ? minute : hour)
      }
      yield* first.flush
      first.clear(cleared)
      assert.strictEqual(first.waitMs(over, minute), 0)
      yield* first.flush
      const second = yield* running
      assert.deepStrictEqual(
        [key, over, cleared].map((held) => second.waitMs(held, 0)),
        [hour, 0, 0]
      )
    }).pipe(Effect.provide(off.layer), Effect.provide(table))
  )

  it.scoped("are bounded: those that are over go first, then the oldest", () =>
    withLockouts(off, (lockouts) => {
      for (let n = 0; n < holdsCapacity; n++) {
        lockouts.hold({ ...key, model: `m${n}` }, 0, "quota_exhausted", n === 7 ? 1 : hour)
      }
      lockouts.hold(key, 1, "quota_exhausted", hour)
      assert.lengthOf(lockouts.list(1), holdsCapacity)
      lockouts.hold({ ...key, model: "more" }, 1, "quota_exhausted", hour)
      assert.lengthOf(lockouts.list(1), holdsCapacity)
      assert.strictEqual(lockouts.waitMs({ ...key, model: "m0" }, 1), 0)
    })
  )
})

describe("Lockouts", () => {
  it.scoped("are off unless switched on", () =>
    withLockouts(settingsOf(), (lockouts) => {
      lockouts.fail(key, 0, failure(429))
      assert.deepStrictEqual([lockouts.waitMs(key, 0), lockouts.list(0)], [0, []])
    })
  )

  for (const [status, counts] of [403, 404, 429, 502, 503, 504, 400, 401, 408, 500].map(
    (code, index) => [code, index < 6] as const
  )) {
    it.scoped(`${status} ${counts ? "locks" : "does not lock"}`, () =>
      withLockouts(on, (lockouts) => {
        lockouts.fail(key, 0, failure(status))
        assert.strictEqual(lockouts.waitMs(key, 0), counts ? 2 * minute : 0)
      })
    )
  }

  it.scoped("escalate within the window up to the cap, and start anew after it", () =>
    withLockouts(on, (lockouts) => {
      let nowMs = 0
      for (const minutes of [2, 4, 8, 16, 30, 30]) {
        lockouts.fail(key, nowMs, failure(429))
        lockouts.fail(key, nowMs + 1, failure(429))
        assert.strictEqual(lockouts.waitMs(key, nowMs), minutes * minute)
        nowMs += minutes * minute
        assert.strictEqual(lockouts.waitMs(key, nowMs), 0)
        assert.deepStrictEqual(lockouts.list(nowMs), [])
      }
      lockouts.fail(key, nowMs + 30 * minute, failure(429))
      assert.strictEqual(lockouts.waitMs(key, nowMs + 30 * minute), 2 * minute)
    })
  )

  it.scoped("stay as long when escalation is off, and as long as the upstream said where that is longer", () =>
    withLockouts(settingsOf({ modelLockout: { enabled: true, useExponentialBackoff: false } }), (lockouts) => {
      lockouts.fail(key, 0, failure(429))
      lockouts.fail(key, 2 * minute, failure(429))
      assert.strictEqual(lockouts.waitMs(key, 2 * minute), 2 * minute)
      lockouts.fail(key, 3 * minute, failure(429, 90 * minute))
      assert.strictEqual(lockouts.waitMs(key, 3 * minute), 90 * minute)
      lockouts.fail(key, 3 * minute, failure(429, minute))
      assert.strictEqual(lockouts.waitMs(key, 3 * minute), 90 * minute)
    })
  )

  it.scoped("a success halves the count and keeps the lock, until nothing is left of it", () =>
    withLockouts(on, (lockouts) => {
      for (const nowMs of [0, 2 * minute, 6 * minute]) lockouts.fail(key, nowMs, failure(503))
      const nowMs = 6 * minute
      assert.deepInclude(lockouts.list(nowMs)[0], { failureCount: 3, remainingMs: 8 * minute })
      lockouts.succeed(key)
      assert.deepInclude(lockouts.list(nowMs)[0], { failureCount: 1, remainingMs: 8 * minute })
      lockouts.succeed(key)
      assert.strictEqual(lockouts.waitMs(key, nowMs), 0)
    })
  )

  it.scoped("are listed longest first, and cleared one by one, by provider and model, or all", () =>
    withLockouts(on, (lockouts) => {
      const other = { ...key, connectionId: "c2" }
      const third = { ...key, model: "n" }
      lockouts.fail(key, 0, failure(429))
      lockouts.fail(other, 0, failure(429, 50 * minute))
      lockouts.fail(third, 0, failure(429, 9 * minute))
      assert.deepStrictEqual(
        lockouts.list(0).map(({ remainingMs }) => remainingMs / minute),
        [50, 9, 2]
      )
      assert.strictEqual(lockouts.clear(key), 1)
      assert.strictEqual(lockouts.clear({ provider: "openai", model: "m" }), 1)
      assert.strictEqual(lockouts.clear({}), 1)
      assert.strictEqual(lockouts.waitMs(third, 0), 0)
    })
  )

  it.scoped("keep no more than their capacity, faded ones go first", () =>
    withLockouts(on, (lockouts) => {
      for (let n = 0; n < Lockouts.capacity; n++)
        lockouts.fail({ ...key, model: `m${n}` }, n < 5 ? 0 : minute * 100, failure(429))
      const nowMs = 101 * minute
      lockouts.fail(key, nowMs, failure(429))
      assert.lengthOf(lockouts.list(nowMs), Lockouts.capacity - 4)
      assert.isAbove(lockouts.waitMs({ ...key, model: "m5" }, nowMs), 0)
    })
  )

  it.scoped("a restart forgets them", () =>
    Effect.gen(function* () {
      yield* withLockouts(on, (lockouts) => lockouts.fail(key, 0, failure(429)))
      assert.strictEqual(yield* withLockouts(on, (lockouts) => lockouts.waitMs(key, 0)), 0)
    })
  )
})

describe("a clock that is set back two hours", () => {
  const now = 10_000_000
  const back = now - 2 * 3_600_000

  it.scoped("keeps no model locked or held for longer than it was to be", () =>
    withLockouts(on, (lockouts) => {
      const held = { ...key, model: "held" }
      lockouts.fail(key, now, failure(503))
      lockouts.hold(held, now, "quota_exhausted", 10 * minute)
      const waits = (atMs: number) => [lockouts.waitMs(key, atMs), lockouts.waitMs(held, atMs)]
      assert.deepStrictEqual(waits(back), [2 * minute, 10 * minute])
      assert.deepStrictEqual(waits(back + minute), [minute, 9 * minute])
      assert.deepStrictEqual(
        waits(back + 10 * minute).map((ms) => Math.max(0, ms)),
        [0, 0]
      )
    })
  )
})
