import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as Analytics from "../../../src/plane/compression/Analytics.ts"
import { StoreError } from "../../../src/store/Errors.ts"
import { CompressionCountsRepo } from "../../../src/subjects/compression/CompressionCountsRepo.ts"
import { reposInMemory } from "../store/fixtures.ts"

const dayMs = 86_400_000
const one = { atMs: 0, mode: "rtk", source: "default", tokens: { before: 100, after: 40 } }
const counts = {
  day: "1970-01-01",
  mode: "rtk",
  source: "default",
  requests: 1,
  changed: 1,
  tokensBefore: 100,
  tokensAfter: 40
}
const twice = { ...counts, requests: 2, changed: 2, tokensBefore: 200, tokensAfter: 80 }

describe("the analytics of the compression", () => {
  it.scoped("add up by day, mode and source, over what is stored and what is not yet", () =>
    Effect.gen(function* () {
      const repo = yield* CompressionCountsRepo
      const analytics = yield* Analytics.make
      analytics.count(one)
      assert.deepStrictEqual(yield* repo.since(""), [])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* repo.since(""), [counts])
      analytics.count(one)
      analytics.count({ ...one, mode: "off", tokens: null })
      assert.deepStrictEqual(yield* analytics.lastDays(1), [
        { ...counts, mode: "off", changed: 0, tokensBefore: 0, tokensAfter: 0 },
        twice
      ])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("are written when the gateway stops, and forgotten after a year", () =>
    Effect.gen(function* () {
      const repo = yield* CompressionCountsRepo
      yield* Effect.scoped(Effect.map(Analytics.make, ({ count }) => count(one)))
      assert.deepStrictEqual(yield* repo.since(""), [counts])
      yield* TestClock.adjust(Analytics.keptDays * dayMs)
      yield* Effect.scoped(Effect.flatMap(Analytics.make, ({ lastDays }) => lastDays(Analytics.keptDays)))
      assert.deepStrictEqual(yield* repo.since(""), [counts])
      yield* TestClock.adjust(dayMs)
      yield* Effect.scoped(Effect.asVoid(Analytics.make))
      assert.deepStrictEqual(yield* repo.since(""), [])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("lose nothing to a store that fails", () =>
    Effect.gen(function* () {
      const repo = yield* CompressionCountsRepo
      let isBroken = true
      const failing = Layer.succeed(CompressionCountsRepo, {
        ...repo,
        add: (taken) =>
          isBroken ? Effect.fail(new StoreError({ operation: "add", cause: new Error("disk full") })) : repo.add(taken)
      })
      const analytics = yield* Effect.provide(Analytics.make, failing)
      analytics.count(one)
      yield* TestClock.adjust("5 seconds")
      analytics.count(one)
      isBroken = false
      assert.deepStrictEqual(yield* analytics.lastDays(1), [twice])
    }).pipe(Effect.provide(reposInMemory))
  )
})
