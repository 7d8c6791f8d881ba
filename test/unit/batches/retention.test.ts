/** Which batches are forgotten, and when. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as BatchRetention from "../../../src/subjects/batches/BatchRetention.ts"
import { ended, newBatch } from "../../../src/subjects/batches/rules.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import { BatchRepo } from "../../../src/subjects/batches/repo.ts"
import { reposInMemory } from "../store/fixtures.ts"

const dayMs = 86_400_000
const request = { inputFileId: "file-1", endpoint: "/v1/embeddings", metadata: null, outputKeptMs: null }
const idOf = (n: number): string => `batch_${String(n).padStart(6, "0")}`
const running = (n: number, createdAtMs: number) =>
  newBatch(idOf(n), { owner: "k", caller: null }, request, createdAtMs)
const over = (n: number, createdAtMs: number) =>
  ended(running(n, createdAtMs), "completed", { completed: 1, failed: 0 }, createdAtMs + 1)

const idsLeft = Effect.gen(function* () {
  const repo = yield* BatchRepo
  return (yield* repo.page({ owner: "k", after: null, limit: 5_000 })).map(({ id }) => id)
})

const stored = Layer.provideMerge(GatewaySettings.layer, reposInMemory)
const test = (name: string, run: Effect.Effect<void, unknown, BatchRepo | GatewaySettings.GatewaySettings>) =>
  it.effect(name, () => Effect.provide(run, stored))

describe("batches that are over", () => {
  test(
    "are forgotten after their days, at the start and from hour to hour, and those that are not over stay",
    Effect.gen(function* () {
      const repo = yield* BatchRepo
      yield* Effect.forEach([over(1, 0), running(2, 0), over(3, dayMs), over(4, 20 * dayMs)], repo.insert)
      yield* TestClock.setTime(30 * dayMs + 1)
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* idsLeft, [idOf(4), idOf(3), idOf(2)])
        yield* TestClock.adjust("1 day")
        assert.deepStrictEqual(yield* idsLeft, [idOf(4), idOf(2)])
      }).pipe(Effect.provide(BatchRetention.layer))
    })
  )

  test(
    "are forgotten beyond their number, the oldest first, in steps",
    Effect.gen(function* () {
      const repo = yield* BatchRepo
      const settings = yield* GatewaySettings.GatewaySettings
      yield* settings.patch({ batches: { maxRows: 2 } })
      const all = Array.from({ length: 1_203 }, (_, n) => over(n + 1, n))
      yield* Effect.forEach([running(0, 0), ...all], repo.insert, { discard: true })
      assert.strictEqual(yield* repo.prune(0, 2), 500)
      yield* Effect.provide(TestClock.adjust("1 second"), BatchRetention.layer)
      assert.deepStrictEqual(yield* idsLeft, [idOf(1_203), idOf(1_202), idOf(0)])
    })
  )
})
