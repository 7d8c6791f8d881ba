/** When a line may begin, what it may ask, and which answers it waits out. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { endpoints } from "../../../src/subjects/batches/Endpoints.ts"
import { LineGate, layer, mayBegin, nextOf, spacingMs } from "../../../src/subjects/batches/LineGate.ts"
import { verdictOf } from "../../../src/subjects/batches/Retries.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import { type InferenceError, LimitReached, TargetsUnavailable } from "../../../src/contract/domain/Errors.ts"
import { EventLoop } from "../../../src/platform/EventLoop.ts"
import { isShed, LoadShedder, layer as shedding } from "../../../src/plane/resilience/LoadShedder.ts"
import * as Resilience from "../../../src/plane/resilience/Settings.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { reposInMemory } from "../store/fixtures.ts"

const idle = Layer.succeed(EventLoop, { busy: () => 0 })
const gate = layer.pipe(
  Layer.provideMerge(shedding),
  Layer.provideMerge(Layer.mergeAll(GatewaySettings.layer, Resilience.layer, TestTimers.layer, idle)),
  Layer.provide(reposInMemory)
)

/** Lines that begin and do not end; how many have begun. */
const lines = (count: number, owner = "one") =>
  Effect.gen(function* () {
    const { enter } = yield* LineGate
    let begun = 0
    const line = Effect.zipRight(
      enter(owner),
      Effect.sync(() => void (begun += 1))
    )
    yield* Effect.forEach(Array.from({ length: count }), () => Effect.forkScoped(Effect.zipRight(line, Effect.never)))
    return () => begun
  })

const load = { maxConcurrency: 8, running: 0, live: 0, maxLive: 100, loopBusy: 0 }

/** How many lines get to run. */
const most = (more: Partial<typeof load>): number => {
  let running = 0
  while (mayBegin({ ...load, ...more, running })) running += 1
  return running
}

describe("lines beside live traffic", () => {
  it("have all places while nobody else is served, and one at least while somebody is", () => {
    assert.strictEqual(most({ loopBusy: 1 }), 8)
    assert.strictEqual(most({ live: 1 }), 8)
    assert.strictEqual(most({ live: 1, loopBusy: 0.5 }), 4)
    assert.strictEqual(most({ live: 1, loopBusy: 1 }), 1)
    assert.strictEqual(most({ live: 1, loopBusy: 1, maxConcurrency: 1 }), 1)
  })

  it.scoped("begin one after the other, with time between them while there is live traffic", () =>
    Effect.gen(function* () {
      const shedder = yield* LoadShedder
      const request = shedder.enter(null)
      assert.isFalse(isShed(request))
      const begun = yield* lines(3)
      const turn = Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
      for (const expected of [1, 1, 2, 2, 3]) {
        // A line begins in a turn of its own.
        for (let turns = 0; turns < 5; turns += 1) yield* turn
        assert.strictEqual(begun(), expected)
        yield* TestClock.adjust(spacingMs(0) / 2)
      }
    }).pipe(Effect.provide(gate))
  )

  it("of the caller with the fewest under way come first, and of those with as many the one that has waited longest", () => {
    const owner = (name: string, running: number, isLooking = true) => ({ name, running, isLooking })
    assert.isNull(nextOf([]))
    assert.isNull(nextOf([owner("a", 0, false)]))
    assert.strictEqual(nextOf([owner("a", 2), owner("b", 1), owner("c", 1), owner("d", 0, false)])?.name, "b")
  })

  it.scoped("of one caller, however many, do not hold up those of another one", () =>
    Effect.gen(function* () {
      const { enter } = yield* LineGate
      const order: Array<string> = []
      const line = (owner: string) =>
        Effect.scoped(
          Effect.zipRight(
            enter(owner),
            Effect.zipRight(
              Effect.sync(() => void order.push(owner)),
              Effect.sleep("1 second")
            )
          )
        )
      yield* Effect.forEach(Array.from({ length: 40 }), () => Effect.forkScoped(line("many")))
      const turn = Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
      const settled = Effect.repeatN(turn, 60)
      yield* settled
      assert.lengthOf(order, 8)
      yield* Effect.forEach(Array.from({ length: 4 }), () => Effect.forkScoped(line("few")))
      yield* settled
      for (let second = 0; second < 10; second += 1) {
        yield* TestClock.adjust("1 second")
        yield* settled
      }
      // The next that begin are theirs, as far as these have fewer under way.
      assert.strictEqual(order.slice(8, 16).filter((owner) => owner === "few").length, 4)
      assert.lengthOf(order, 44)
    }).pipe(Effect.provide(gate))
  )

  it("keep their distance for a while after the last live request", () => {
    assert.isAbove(spacingMs(0), 0)
    assert.strictEqual(spacingMs(999), spacingMs(0))
    assert.strictEqual(spacingMs(1_000), 0)
  })

  it("do not begin while live requests come near to being refused", () => {
    assert.strictEqual(most({ live: 79 }), 8)
    assert.strictEqual(most({ live: 80 }), 0)
  })
})

it("lines may ask every endpoint that OpenAI's batches have", () => {
  assert.deepStrictEqual([...endpoints.keys()].sort(), [
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/embeddings",
    "/v1/images/generations",
    "/v1/moderations",
    "/v1/responses",
    "/v1/videos/generations"
  ])
})

describe("an answer to a line", () => {
  const error = (code: string, attempts: ReadonlyArray<object> = []): string =>
    JSON.stringify({ error: { code, attempts } })
  const verdict = (
    status: number,
    body: string,
    retryAfterMs: number | null = null,
    failure: InferenceError | null = null
  ) => verdictOf({ status, body, retryAfterMs, error: failure })
  const limited = (isKeyLimit: boolean): InferenceError =>
    new TargetsUnavailable({
      status: 429,
      code: "rate_limit_exceeded",
      message: "limited",
      kind: null,
      retryAfterMs: 1_000,
      resetsAtMs: null,
      isKeyLimit
    })

  it("is waited out while no connection can be called", () => {
    assert.strictEqual(verdict(503, error("model_cooldown"), 1_000), "untilExpiry")
    assert.strictEqual(verdict(429, error("model_cooldown"), 1_000), "untilExpiry")
    assert.strictEqual(verdict(503, error("queue_full")), "untilExpiry")
    assert.strictEqual(verdict(429, error("rate_limit_exceeded"), 1_000, limited(false)), "untilExpiry")
  })

  it("that a rate or the sessions of the key refuse is waited out, and one that its day refuses is recorded", () => {
    const refused = (unit: "requests" | "sessions", resetsAtMs: number | null) =>
      verdict(
        429,
        error("rate_limit_exceeded"),
        60_000,
        new LimitReached({ message: "m", retryAfterMs: 60_000, limit: { unit, window: "60s", resetsAtMs } })
      )
    assert.deepStrictEqual(
      [refused("requests", null), refused("sessions", null), refused("requests", 1)],
      ["untilExpiry", "untilExpiry", "record"]
    )
  })

  it("is recorded where waiting changes nothing: budgets, quotas, and what no target fits", () => {
    assert.strictEqual(verdict(429, error("rate_limit_exceeded"), 60_000), "record")
    assert.strictEqual(verdict(429, error("rate_limit_exceeded"), 60_000, limited(true)), "record")
    assert.strictEqual(verdict(429, error("insufficient_quota"), 60_000), "record")
    assert.strictEqual(verdict(503, error("no_suitable_target")), "record")
    assert.strictEqual(verdict(503, error("ALL_ACCOUNTS_INACTIVE")), "record")
    assert.strictEqual(verdict(503, "no json"), "record")
    for (const status of [200, 400, 404, 500, 502]) assert.strictEqual(verdict(status, error("x"), 1_000), "record")
  })

  it("of an upstream that refuses for its own limits is asked for again a few times", () => {
    assert.strictEqual(verdict(429, error("rate_limit_exceeded", [{}]), 1_000), "sometimes")
    assert.strictEqual(verdict(429, error("insufficient_quota", [{}])), "record")
    assert.strictEqual(verdict(503, error("overloaded", [{}]), 1_000), "record")
  })

  it("of a gateway that stops is the next process's", () => {
    assert.strictEqual(verdict(503, error("server_shutting_down"), 5_000), "stopping")
  })
})
