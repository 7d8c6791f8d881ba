import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FC from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import type { ResiliencePatch } from "../../../src/subjects/resilience/entity.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../src/subjects/flags/repo.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as ConcurrencyGate from "../../../src/plane/resilience/ConcurrencyGate.ts"
import * as ConnectionLimiter from "../../../src/plane/resilience/ConnectionLimiter.ts"
import { settingsOf } from "./support.ts"

type Limiter = typeof ConnectionLimiter.ConnectionLimiter.Service

const opened = (patch: ResiliencePatch = {}) => {
  const settings = settingsOf(patch)
  return Effect.map(
    Layer.build(
      Layer.fresh(
        ConnectionLimiter.layer.pipe(
          Layer.provide(Layer.mergeAll(ConcurrencyGate.layer, settings.layer, Flags.layer)),
          Layer.provide(Layer.merge(layerMemory(), AppConfig.layerOf({ dataDir: "/nowhere" })))
        )
      )
    ),
    (context) => ({ limiter: Context.get(context, ConnectionLimiter.ConnectionLimiter), change: settings.change })
  )
}

const account = (
  maxConcurrent: number | null,
  authType: "apikey" | "oauth" = "apikey"
): ConnectionLimiter.LimitedConnection => ({
  id: "c1",
  maxConcurrent,
  authType
})

const free = (place: ConnectionLimiter.Place): ConcurrencyGate.Release => {
  if (place._tag !== "Free") throw new Error(place._tag)
  return place.release
}
const lineOf = (place: ConnectionLimiter.Place): Effect.Effect<ConcurrencyGate.Release | null> =>
  place._tag === "Wait" ? place.wait : Effect.die(place._tag)

const turns = Effect.repeatN(Effect.yieldNow(), 30)

/** Joins the line and notes its name when it gets in, or `name!` when it does not. */
const caller = (limiter: Limiter, connection: ConnectionLimiter.LimitedConnection, name: string, log: Array<string>) =>
  Effect.tap(
    Effect.fork(
      Effect.tap(lineOf(limiter.enter(connection)), (release) =>
        Effect.sync(() => log.push(release === null ? `${name}!` : name))
      )
    ),
    () => turns
  )

const throttled = (more: ResiliencePatch["requestQueue"] = {}): ResiliencePatch => ({
  requestQueue: {
    enabled: true,
    requestsPerMinute: 60,
    minTimeBetweenRequestsMs: 0,
    concurrentRequests: 10,
    maxWaitMs: 120_000,
    ...more
  }
})

describe("ConnectionLimiter", () => {
  it.scoped("stands open without limits, and lets in up to max_concurrent at once", () =>
    Effect.gen(function* () {
      const { limiter } = yield* opened()
      for (let n = 0; n < 1_000; n++) free(limiter.enter(account(null)))
      const releases = [1, 2].map(() => free(limiter.enter(account(2))))
      assert.strictEqual(limiter.enter(account(2))._tag, "Wait")
      assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1")], [2, 0])
      releases[0]?.()
      releases[0]?.()
      free(limiter.enter(account(2)))
      assert.strictEqual(limiter.enter(account(2))._tag, "Wait")
    })
  )

  it.scoped("lets in who came first, and refuses beyond queueDepth", () =>
    Effect.gen(function* () {
      const { limiter } = yield* opened({ connectionQueue: { queueDepth: 3 } })
      const first = free(limiter.enter(account(1)))
      const log: Array<string> = []
      const fibers = yield* Effect.forEach(["a", "b", "c"], (name) => caller(limiter, account(1), name, log))
      assert.strictEqual(limiter.enter(account(1))._tag, "Full")
      let release: ConcurrencyGate.Release | null = first
      for (const fiber of fibers) {
        release?.()
        release = yield* Fiber.join(fiber)
      }
      assert.deepStrictEqual(log, ["a", "b", "c"])
      release?.()
      assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1")], [0, 0])
    })
  )

  it.scoped("a place in line is taken when the waiting begins, not when it is offered", () =>
    Effect.gen(function* () {
      const { limiter } = yield* opened({ connectionQueue: { queueDepth: 1 } })
      const first = free(limiter.enter(account(1)))
      const [early, late] = [lineOf(limiter.enter(account(1))), lineOf(limiter.enter(account(1)))]
      const waits = yield* Effect.fork(late)
      yield* turns
      assert.isNull(yield* early)
      first()
      const release = yield* Fiber.join(waits)
      release?.()
      // A waiter that starts when there is a free slot is admitted at once.
      const straight = yield* early
      assert.isNotNull(straight)
      straight?.()
      assert.strictEqual(limiter.inUse("c1"), 0)
    })
  )

  it.scoped("waits as long as the settings say, and no longer", () =>
    Effect.gen(function* () {
      const { limiter } = yield* opened({ connectionQueue: { waitTimeoutMs: 5_000 } })
      const first = free(limiter.enter(account(1)))
      const log: Array<string> = []
      const fiber = yield* caller(limiter, account(1), "a", log)
      yield* TestClock.adjust("4999 millis")
      assert.deepStrictEqual([log, limiter.waiting("c1")], [[], 1])
      yield* TestClock.adjust("1 millis")
      assert.isNull(yield* Fiber.join(fiber))
      assert.strictEqual(limiter.waiting("c1"), 0)
      first()
      assert.strictEqual(limiter.inUse("c1"), 0)
    })
  )

  it.scoped("who leaves the line frees it at once, and the next moves up", () =>
    Effect.gen(function* () {
      const { limiter } = yield* opened({ connectionQueue: { queueDepth: 2 } })
      const first = free(limiter.enter(account(1)))
      const log: Array<string> = []
      const a = yield* caller(limiter, account(1), "a", log)
      const b = yield* caller(limiter, account(1), "b", log)
      assert.strictEqual(limiter.enter(account(1))._tag, "Full")
      yield* Fiber.interrupt(a)
      const c = yield* caller(limiter, account(1), "c", log)
      first()
      const second = yield* Fiber.join(b)
      second?.()
      const third = yield* Fiber.join(c)
      third?.()
      assert.deepStrictEqual(log, ["b", "c"])
      assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1")], [0, 0])
    })
  )

  it.scoped("leaving in the moment the place is given, at any point between giving and taking, leaks nothing", () =>
    Effect.gen(function* () {
      for (const patch of [{}, throttled()]) {
        for (let point = 0; point < 25; point++) {
          const { limiter } = yield* opened(patch)
          const first = free(limiter.enter(account(1)))
          let held: ConcurrencyGate.Release | null = null
          const unlucky = yield* Effect.fork(
            Effect.uninterruptibleMask((restore) =>
              Effect.map(restore(lineOf(limiter.enter(account(1)))), (release) => {
                held = release
              })
            )
          )
          yield* turns
          first()
          for (let n = 0; n < point; n++) yield* Effect.yieldNow()
          yield* Fiber.interrupt(unlucky)
          const release = held as ConcurrencyGate.Release | null
          release?.()
          yield* turns
          assert.deepStrictEqual([point, limiter.inUse("c1"), limiter.waiting("c1")], [point, 0, 0])
        }
      }
    })
  )

  it.scoped("a place that comes in the moment the time is up is taken or given back", () =>
    Effect.gen(function* () {
      for (let before = 0; before < 2; before++) {
        const { limiter } = yield* opened({ connectionQueue: { waitTimeoutMs: 1_000 } })
        const first = free(limiter.enter(account(1)))
        const log: Array<string> = []
        if (before === 1) yield* Effect.fork(Effect.delay(Effect.sync(first), "1 seconds"))
        yield* turns
        const fiber = yield* caller(limiter, account(1), "a", log)
        if (before === 0) yield* Effect.fork(Effect.delay(Effect.sync(first), "1 seconds"))
        yield* turns
        yield* TestClock.adjust("1 seconds")
        const release = yield* Fiber.join(fiber)
        assert.strictEqual(limiter.inUse("c1"), release === null ? 0 : 1)
        release?.()
        assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1")], [0, 0])
      }
    })
  )

  it.scoped("a limit that is raised or lifted lets those in line in first; one that is lowered holds them back", () =>
    Effect.gen(function* () {
      const { limiter } = yield* opened()
      const first = free(limiter.enter(account(1)))
      const log: Array<string> = []
      const a = yield* caller(limiter, account(1), "a", log)
      const b = yield* caller(limiter, account(1), "b", log)
      const c = yield* caller(limiter, account(2), "c", log)
      const second = yield* Fiber.join(a)
      assert.deepStrictEqual(log, ["a"])
      free(limiter.enter(account(null)))()
      const third = yield* Fiber.join(b)
      const fourth = yield* Fiber.join(c)
      assert.deepStrictEqual(log, ["a", "b", "c"])
      const d = yield* caller(limiter, account(1), "d", log)
      for (const release of [first, second, third]) release?.()
      yield* turns
      assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1")], [1, 1])
      fourth?.()
      const fifth = yield* Fiber.join(d)
      fifth?.()
      assert.strictEqual(limiter.inUse("c1"), 0)
    })
  )

  describe("throttle", () => {
    it.scoped("is for API-key connections only, and off by default", () =>
      Effect.gen(function* () {
        const { change, limiter } = yield* opened()
        for (let n = 0; n < 100; n++) free(limiter.enter(account(null)))
        change(throttled({ requestsPerMinute: 1 }))
        for (let n = 0; n < 100; n++) free(limiter.enter(account(null, "oauth")))
        free(limiter.enter(account(null)))
        assert.strictEqual(limiter.enter(account(null))._tag, "Wait")
        change({ requestQueue: { enabled: false } })
        free(limiter.enter(account(null)))
      })
    )

    it.scoped("holds to concurrentRequests, or max_concurrent where that is less", () =>
      Effect.gen(function* () {
        const { limiter } = yield* opened(throttled({ concurrentRequests: 2 }))
        const releases = [1, 2].map(() => free(limiter.enter(account(5))))
        assert.strictEqual(limiter.enter(account(5))._tag, "Wait")
        for (const release of releases) release()
        free(limiter.enter(account(1)))
        assert.strictEqual(limiter.enter(account(1))._tag, "Wait")
      })
    )

    it.scoped("starts at most requestsPerMinute calls in any minute, in the order of asking", () =>
      Effect.gen(function* () {
        const { limiter } = yield* opened(throttled({ requestsPerMinute: 2, maxWaitMs: 100_000 }))
        const log: Array<string> = []
        free(limiter.enter(account(null)))()
        yield* TestClock.adjust("10 seconds")
        free(limiter.enter(account(null)))()
        const fibers = yield* Effect.forEach(["a", "b", "c"], (name) => caller(limiter, account(null), name, log))
        yield* TestClock.adjust("49999 millis")
        assert.deepStrictEqual(log, [])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(log, ["a"])
        yield* TestClock.adjust("9999 millis")
        assert.deepStrictEqual(log, ["a"])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(log, ["a", "b"])
        yield* TestClock.adjust("50 seconds")
        assert.deepStrictEqual(log, ["a", "b", "c!"])
        const releases = yield* Effect.forEach(fibers, Fiber.join)
        for (const release of releases) release?.()
        assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1")], [0, 0])
      })
    )

    it.scoped("keeps minTimeBetweenRequestsMs between two starts", () =>
      Effect.gen(function* () {
        const { limiter } = yield* opened(throttled({ minTimeBetweenRequestsMs: 350 }))
        const log: Array<string> = []
        free(limiter.enter(account(null)))()
        yield* Effect.forEach(["a", "b"], (name) => caller(limiter, account(null), name, log))
        yield* TestClock.adjust("349 millis")
        assert.deepStrictEqual(log, [])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(log, ["a"])
        yield* TestClock.adjust("349 millis")
        assert.deepStrictEqual(log, ["a"])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(log, ["a", "b"])
      })
    )

    it.scoped("refuses at once what cannot come within maxWaitMs, and beyond queueDepth", () =>
      Effect.gen(function* () {
        const { change, limiter } = yield* opened({
          ...throttled({ requestsPerMinute: 1, maxWaitMs: 5_000 }),
          connectionQueue: { queueDepth: 2 }
        })
        free(limiter.enter(account(null)))()
        assert.strictEqual(limiter.enter(account(null))._tag, "Full")
        change({ requestQueue: { maxWaitMs: 300_000 } })
        const log: Array<string> = []
        yield* Effect.forEach(["a", "b"], (name) => caller(limiter, account(null), name, log))
        assert.strictEqual(limiter.enter(account(null))._tag, "Full")
      })
    )

    it.scoped("a waiter that leaves while paced costs no other a turn; changed settings apply to waiters", () =>
      Effect.gen(function* () {
        const { change, limiter } = yield* opened(throttled({ requestsPerMinute: 1 }))
        const log: Array<string> = []
        free(limiter.enter(account(null)))()
        const a = yield* caller(limiter, account(null), "a", log)
        const b = yield* caller(limiter, account(null), "b", log)
        yield* Fiber.interrupt(a)
        yield* turns
        assert.deepStrictEqual([limiter.inUse("c1")], [1])
        yield* TestClock.adjust("10 seconds")
        change({ requestQueue: { enabled: false } })
        yield* TestClock.adjust("1 seconds")
        assert.deepStrictEqual(log, ["b"])
        const release = yield* Fiber.join(b)
        release?.()
        assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1")], [0, 0])
      })
    )
  })

  describe("of a quota share", () => {
    const shares = (more: ResiliencePatch["quotaShareConcurrencyLimit"] = {}): ResiliencePatch => ({
      quotaShareConcurrencyLimit: { enabled: true, queueDepth: 1, waitTimeoutMs: 1_000, ...more }
    })

    it.scoped("has a line of its own, and lets in whom it has no room for", () =>
      Effect.gen(function* () {
        const { limiter } = yield* opened(shares())
        const first = free(limiter.enter(account(1), true))
        const log: Array<string> = []
        const second = yield* Effect.fork(Effect.tap(lineOf(limiter.enter(account(1), true)), () => log.push("second")))
        yield* turns
        free(limiter.enter(account(1), true))()
        assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1"), log], [1, 1, []])
        first()
        yield* turns
        assert.deepStrictEqual(log, ["second"])
        const release = yield* Fiber.join(second)
        release?.()
        assert.strictEqual(limiter.inUse("c1"), 0)
      })
    )

    it.scoped("lets in whose place does not come in time, and takes none for it", () =>
      Effect.gen(function* () {
        const { limiter } = yield* opened(shares())
        const first = free(limiter.enter(account(1), true))
        const second = yield* Effect.fork(lineOf(limiter.enter(account(1), true)))
        yield* turns
        yield* TestClock.adjust(999)
        assert.isTrue(Option.isNone(yield* Fiber.poll(second)))
        yield* TestClock.adjust(1)
        const release = yield* Fiber.join(second)
        assert.isNotNull(release)
        assert.deepStrictEqual([limiter.inUse("c1"), limiter.waiting("c1")], [1, 0])
        release?.()
        assert.strictEqual(limiter.inUse("c1"), 1)
        first()
        assert.strictEqual(limiter.inUse("c1"), 0)
      })
    )

    it.scoped("switched off it is a call like all others; and the throttle holds for it", () =>
      Effect.gen(function* () {
        const off = yield* opened({
          ...shares({ enabled: false }),
          connectionQueue: { queueDepth: 0, waitTimeoutMs: 1 }
        })
        free(off.limiter.enter(account(1), true))
        assert.strictEqual(off.limiter.enter(account(1), true)._tag, "Full")
        const slow = yield* opened({
          ...shares({ queueDepth: 0 }),
          ...throttled({ requestsPerMinute: 1, maxWaitMs: 100 })
        })
        free(slow.limiter.enter(account(1), true))()
        assert.strictEqual(slow.limiter.enter(account(1), true)._tag, "Full")
      })
    )
  })

  it.scoped("never lets in more than allowed nor loses a place, whatever callers do", () =>
    Effect.gen(function* () {
      const step = FC.tuple(
        FC.constantFrom("ask", "ask", "release", "leave", "pass"),
        FC.nat(1_000),
        FC.integer({ min: 1, max: 3 })
      )
      const scripts = FC.sample(FC.array(step, { minLength: 20, maxLength: 60 }), { seed: 20_261_121, numRuns: 30 })
      for (const [index, script] of scripts.entries()) {
        const { limiter } = yield* opened({
          ...(index % 2 === 0 ? {} : throttled({ requestsPerMinute: 20, minTimeBetweenRequestsMs: 40 })),
          connectionQueue: { queueDepth: 4, waitTimeoutMs: 700 }
        })
        const held: Array<ConcurrencyGate.Release> = []
        const line: Array<Fiber.RuntimeFiber<void>> = []
        for (const [what, amount, limit] of script) {
          if (what === "pass") yield* TestClock.adjust(amount)
          else if (what === "release") held.splice(amount % Math.max(1, held.length), 1)[0]?.()
          else if (what === "leave") {
            const fiber = line[amount % Math.max(1, line.length)]
            if (fiber !== undefined) yield* Fiber.interrupt(fiber)
          } else {
            const before = limiter.inUse("c1")
            const place = limiter.enter(account(limit))
            if (place._tag === "Free") {
              assert.isBelow(before, limit)
              held.push(place.release)
            } else if (place._tag === "Wait") {
              const waits = Effect.uninterruptibleMask((restore) =>
                Effect.map(restore(place.wait), (release) => void (release === null ? 0 : held.push(release)))
              )
              line.push(yield* Effect.fork(waits))
            }
          }
          yield* turns
          assert.isAtMost(limiter.inUse("c1"), 3)
          assert.isAtLeast(limiter.inUse("c1"), held.length)
        }
        yield* Fiber.interruptAll(line)
        for (const release of held) release()
        yield* turns
        assert.deepStrictEqual([index, limiter.inUse("c1"), limiter.waiting("c1")], [index, 0, 0])
      }
    })
  )
})
