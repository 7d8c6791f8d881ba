import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Events from "../../../src/observe/Events.ts"
import * as HealthChanges from "../../../src/plane/resilience/HealthChanges.ts"
import * as Breakers from "../../../src/plane/resilience/breaker/Breakers.ts"
import * as Cooldowns from "../../../src/plane/resilience/cooldown/Cooldowns.ts"
import { makeSignal } from "../../../src/kernel/collections/Signal.ts"
import * as Lockouts from "../../../src/plane/resilience/lockout/Lockouts.ts"
import { type LockoutChange, makeLockoutStates } from "../../../src/plane/resilience/lockout/LockoutStates.ts"
import { makeQuotaHolds } from "../../../src/plane/resilience/lockout/QuotaHolds.ts"
import { defaultResilience } from "../../../src/subjects/resilience/entity.ts"
import { type ConnectionHealth, healthy } from "../../../src/subjects/connections/entity.ts"
import * as TestTimers from "../../support/TestTimers.ts"

/** The services as what they tell of their changes, and nothing else. */
const told = Effect.gen(function* () {
  const breakers = makeSignal<Breakers.BreakerNow>()
  const cooldowns = makeSignal<{ readonly connectionId: string; readonly health: ConnectionHealth }>()
  const lockouts = makeSignal<LockoutChange>()
  const events = yield* Events.make
  const published: Array<string> = []
  events.listen((event) => void published.push(JSON.stringify(event)))
  yield* Layer.build(
    HealthChanges.layer.pipe(
      Layer.provide(
        Layer.mergeAll(
          TestTimers.layer,
          Layer.succeed(Events.Events, events),
          Layer.succeed(Breakers.Breakers, { listen: breakers.listen } as unknown as typeof Breakers.Breakers.Service),
          Layer.succeed(Cooldowns.Cooldowns, {
            listen: cooldowns.listen
          } as unknown as typeof Cooldowns.Cooldowns.Service),
          Layer.succeed(Lockouts.Lockouts, { listen: lockouts.listen } as unknown as typeof Lockouts.Lockouts.Service)
        )
      )
    )
  )
  return { breakers, cooldowns, lockouts, published }
})

describe("changes of health", () => {
  it.scoped("are told once each, and failures that change no state are not", () =>
    Effect.gen(function* () {
      const { breakers, cooldowns, lockouts, published } = yield* told
      for (const [state, failures] of [
        ["CLOSED", 1],
        ["CLOSED", 2],
        ["OPEN", 3],
        ["OPEN", 4],
        ["HALF_OPEN", 4],
        ["CLOSED", 0]
      ] as const) {
        breakers.tell({ provider: "p", state, failures })
      }
      const resting: ConnectionHealth = { ...healthy, testStatus: "unavailable", rateLimitedUntilMs: 5 }
      for (const health of [resting, { ...resting, backoffLevel: 2 }, healthy]) {
        cooldowns.tell({ connectionId: "c", health })
      }
      const key = { provider: "p", connectionId: "c", model: "m" }
      for (const untilMs of [9, 9, null])
        lockouts.tell({ ...key, untilMs, reason: untilMs === null ? null : "http_429" })
      assert.deepStrictEqual(
        published.map((text) => {
          const { state, status, type, untilMs } = JSON.parse(text)
          return [type, state ?? status ?? untilMs]
        }),
        [
          ["breaker.changed", "OPEN"],
          ["breaker.changed", "HALF_OPEN"],
          ["breaker.changed", "CLOSED"],
          ["cooldown.changed", "unavailable"],
          ["cooldown.changed", healthy.testStatus],
          ["lockout.changed", 9],
          ["lockout.changed", null]
        ]
      )
    })
  )
})

describe("locks of models", () => {
  const key = { provider: "p", connectionId: "c", model: "m" }
  const failure = { status: 429, reason: "http_429", hintMs: 60_000 }

  it("tell of their beginning and their end, and of nothing else", () => {
    const changes: Array<LockoutChange> = []
    const profile = { ...defaultResilience.modelLockout, enabled: true, errorCodes: [429] }
    const holds = makeQuotaHolds([], () => {})
    const states = makeLockoutStates(
      () => profile,
      holds,
      (change) => void changes.push(change)
    )
    states.succeed(key)
    states.fail(key, 0, { ...failure, status: 500 })
    assert.deepStrictEqual(changes, [])
    states.fail(key, 0, failure)
    assert.deepStrictEqual(changes.splice(0), [
      { ...key, untilMs: states.list(0)[0]?.untilMs ?? null, reason: "http_429" }
    ])
    states.succeed(key)
    states.succeed(key)
    assert.deepStrictEqual(changes.splice(0), [{ ...key, untilMs: null, reason: null }])
    states.fail(key, 1, failure)
    states.clear({ provider: "p" })
    states.clear({ provider: "p" })
    assert.deepStrictEqual(
      changes.map(({ untilMs }) => untilMs === null),
      [false, true]
    )
  })
})
