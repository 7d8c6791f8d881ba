/** When a line may begin, what it may ask, and which answers it waits out. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { endpoints } from "../../../src/batches/Endpoints.ts"
import { LineGate, layer, mayBegin, spacingMs } from "../../../src/batches/LineGate.ts"
import { verdictOf } from "../../../src/batches/Retries.ts"
import * as GatewaySettings from "../../../src/flags/GatewaySettings.ts"
import { type InferenceError, TargetsUnavailable } from "../../../src/domain/Errors.ts"
import { EventLoop } from "../../../src/platform/EventLoop.ts"
import { isShed, LoadShedder, layer as shedding } from "../../../src/resilience/LoadShedder.ts"
import * as Resilience from "../../../src/resilience/Settings.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { reposInMemory } from "../store/fixtures.ts"

const idle = Layer.succeed(EventLoop, { busy: () => 0 })
const gate = layer.pipe(
  Layer.provideMerge(shedding),
  Layer.provideMerge(Layer.mergeAll(GatewaySettings.layer, Resilience.layer, TestTimers.layer, idle)),
  Layer.provide(reposInMemory)
)

/** Lines that begin and do not end; how many have begun. */
const lines = (count: number) =>
  Effect.gen(function* () {
    const { enter } = yield* LineGate
    let begun = 0
    const line = Effect.zipRight(
      enter,
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
      const request = shedder.enter()
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
