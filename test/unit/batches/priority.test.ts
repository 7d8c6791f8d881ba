/** When a line may begin, what it may ask, and which answers it waits out. */
import { assert, describe, it } from "@effect/vitest"
import { endpoints } from "../../../src/batches/Endpoints.ts"
import { mayBegin } from "../../../src/batches/LineGate.ts"
import { verdictOf } from "../../../src/batches/Retries.ts"

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
  const verdict = (status: number, body: string, retryAfterMs: number | null = null) =>
    verdictOf({ status, body, retryAfterMs })

  it("is waited out while no connection can be called", () => {
    assert.strictEqual(verdict(503, error("model_cooldown"), 1_000), "untilExpiry")
    assert.strictEqual(verdict(429, error("model_cooldown"), 1_000), "untilExpiry")
    assert.strictEqual(verdict(503, error("queue_full")), "untilExpiry")
  })

  it("is recorded where waiting changes nothing: budgets, quotas, and what no target fits", () => {
    assert.strictEqual(verdict(429, error("rate_limit_exceeded"), 60_000), "record")
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
