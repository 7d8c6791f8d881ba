import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ProviderClass } from "../../../src/contract/domain/Provider.ts"
import * as Breakers from "../../../src/plane/resilience/breaker/Breakers.ts"
import { StoreError } from "../../../src/store/Errors.ts"
import { BreakerRepo } from "../../../src/subjects/resilience/repo.ts"
import { reposInMemory } from "../store/fixtures.ts"
import { settingsOf, started } from "./support.ts"

const providerOf = (id: string, providerClass: ProviderClass): Breakers.Guarded => ({ id, class: providerClass })
const openai = providerOf("openai", "apikey")
const apikey = () => "apikey" as const

const running = started(Breakers.Breakers, Breakers.layer)
const withStore = Layer.mergeAll(reposInMemory, settingsOf().layer)

const trip = (breakers: typeof Breakers.Breakers.Service, provider: Breakers.Guarded, times: number, nowMs: number) => {
  for (let n = 0; n < times; n++) breakers.report(provider, nowMs, "trip", false)
}

describe("Breakers", () => {
  for (const [providerClass, degradesAt, opensAt, resetMs, cap] of [
    ["oauth", 5, 8, 60_000, 8],
    ["apikey", 7, 12, 30_000, 4],
    ["local", null, 2, 15_000, 4]
  ] as const) {
    it.scoped(
      `${providerClass}: degrades and opens at its thresholds, and waits at most ${cap} times its timeout`,
      () =>
        Effect.gen(function* () {
          const breakers = yield* running
          const provider = providerOf("p", providerClass)
          for (let failures = 1; failures < opensAt; failures++) {
            breakers.report(provider, 0, "trip", false)
            const expected = degradesAt !== null && failures >= degradesAt ? "DEGRADED" : "CLOSED"
            assert.strictEqual(breakers.phaseOf(provider, 0), expected)
            assert.strictEqual(breakers.admit(provider, 0), "allowed")
          }
          assert.deepStrictEqual(breakers.report(provider, 0, "trip", false).after, "OPEN")
          let nowMs = 0
          for (const times of [1, 2, 4, 8, 16]) {
            const restMs = resetMs * Math.min(times, cap)
            assert.strictEqual(breakers.waitMs(provider, nowMs), restMs)
            assert.strictEqual(breakers.admit(provider, nowMs + restMs - 1), "refused")
            nowMs += restMs
            assert.strictEqual(breakers.phaseOf(provider, nowMs), "HALF_OPEN")
            assert.strictEqual(breakers.admit(provider, nowMs), "probe")
            assert.strictEqual(breakers.admit(provider, nowMs), "refused")
            assert.isNull(breakers.waitMs(provider, nowMs))
            assert.deepInclude(breakers.report(provider, nowMs, "trip", true), {
              before: "HALF_OPEN",
              after: "OPEN"
            })
          }
          nowMs += resetMs * cap
          assert.strictEqual(breakers.admit(provider, nowMs), "probe")
          assert.deepInclude(breakers.report(provider, nowMs, "success", true), {
            before: "HALF_OPEN",
            after: "CLOSED"
          })
          assert.deepStrictEqual(
            breakers.list(nowMs, () => providerClass),
            []
          )
        }).pipe(Effect.provide(withStore))
    )
  }

  it.scoped("a success lowers the count by one; what the account did wrong counts nothing", () =>
    Effect.gen(function* () {
      const breakers = yield* running
      trip(breakers, openai, 8, 0)
      assert.strictEqual(breakers.phaseOf(openai, 0), "DEGRADED")
      breakers.report(openai, 0, "other", false)
      breakers.report(openai, 0, "unknown", false)
      assert.strictEqual(breakers.list(0, apikey)[0]?.failures, 8)
      breakers.report(openai, 0, "success", false)
      breakers.report(openai, 0, "success", false)
      assert.deepInclude(breakers.list(0, apikey)[0], { failures: 6, state: "CLOSED" })
    }).pipe(Effect.provide(withStore))
  )

  it.scoped("a probe without a result allows the next one, and earlier calls do not count", () =>
    Effect.gen(function* () {
      const breakers = yield* running
      trip(breakers, openai, 12, 0)
      breakers.report(openai, 10, "success", false)
      breakers.report(openai, 10, "trip", false)
      assert.strictEqual(breakers.waitMs(openai, 10), 29_990)
      assert.strictEqual(breakers.admit(openai, 30_000), "probe")
      breakers.report(openai, 30_001, "success", false)
      assert.strictEqual(breakers.phaseOf(openai, 30_001), "HALF_OPEN")
      breakers.report(openai, 30_002, "unknown", true)
      assert.strictEqual(breakers.waitMs(openai, 30_002), 0)
      assert.strictEqual(breakers.admit(openai, 30_002), "probe")
    }).pipe(Effect.provide(withStore))
  )

  it.scoped("looking alone brings an open breaker through its wait when the clock was set back", () =>
    Effect.gen(function* () {
      const breakers = yield* running
      trip(breakers, openai, 12, 10_000_000)
      assert.strictEqual(breakers.waitMs(openai, 1_000), 30_000)
      assert.strictEqual(breakers.waitMs(openai, 21_000), 10_000)
      assert.strictEqual(breakers.phaseOf(openai, 31_000), "HALF_OPEN")
    }).pipe(Effect.provide(withStore))
  )

  it.effect("a restart keeps an open breaker with its remaining time, its lost probes and its count", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const breakers = yield* running
          trip(breakers, openai, 12, 1_000)
          trip(breakers, providerOf("groq", "apikey"), 3, 1_000)
          const lost = providerOf("claude", "oauth")
          trip(breakers, lost, 8, 0)
          assert.strictEqual(breakers.admit(lost, 60_000), "probe")
          breakers.report(lost, 60_000, "trip", true)
          // As a kill would leave it: only what was flushed counts.
          yield* breakers.flush
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const breakers = yield* running
          assert.strictEqual(breakers.waitMs(openai, 11_000), 20_000)
          assert.strictEqual(breakers.waitMs(providerOf("claude", "oauth"), 60_000), 120_000)
          assert.deepInclude(
            breakers.list(0, apikey).find(({ provider }) => provider === "groq"),
            { failures: 3 }
          )
          assert.strictEqual(breakers.admit(openai, 31_000), "probe")
          assert.strictEqual(yield* breakers.reset(null), 3)
          assert.deepStrictEqual(breakers.list(0, apikey), [])
        })
      )
      const repo = yield* BreakerRepo
      assert.deepStrictEqual(yield* repo.list, [])
    }).pipe(Effect.provide(withStore))
  )

  it.effect("a probe that died with the process does not block the way", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const breakers = yield* running
          trip(breakers, openai, 12, 0)
          assert.strictEqual(breakers.admit(openai, 30_000), "probe")
        })
      )
      const again = yield* Effect.scoped(Effect.map(running, (breakers) => breakers.admit(openai, 30_001)))
      assert.strictEqual(again, "probe")
    }).pipe(Effect.provide(withStore))
  )

  it.scoped("works on when the store does not", () => {
    const failing = new StoreError({ operation: "test", cause: "gone" })
    const repo = BreakerRepo.of({ list: Effect.succeed([]), save: () => failing, remove: () => failing })
    return Effect.gen(function* () {
      const breakers = yield* running
      trip(breakers, openai, 12, 0)
      yield* breakers.flush
      assert.strictEqual(breakers.phaseOf(openai, 0), "OPEN")
      assert.strictEqual(yield* breakers.reset("openai"), 1)
      assert.strictEqual(yield* breakers.reset("nobody"), 0)
      assert.strictEqual(breakers.phaseOf(openai, 0), "CLOSED")
    }).pipe(Effect.provide(Layer.merge(Layer.succeed(BreakerRepo, repo), settingsOf().layer)))
  })

  it.scoped("keeps no more than its capacity", () =>
    Effect.gen(function* () {
      const breakers = yield* running
      for (let n = 0; n < Breakers.capacity + 5; n++) trip(breakers, providerOf(`p${n}`, "apikey"), 1, 0)
      assert.lengthOf(breakers.list(0, apikey), Breakers.capacity)
    }).pipe(
      Effect.provide(
        Layer.merge(
          Layer.succeed(
            BreakerRepo,
            BreakerRepo.of({ list: Effect.succeed([]), save: () => Effect.void, remove: () => Effect.void })
          ),
          settingsOf().layer
        )
      )
    )
  )
})
