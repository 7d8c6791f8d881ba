import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { makeDrawLedger } from "../../../../src/plane/routing/quota/DrawLedger.ts"
import { type Draws, drawn, knownQuotas, noDraws, ownUse } from "../../../../src/plane/routing/quota/Draws.ts"
import type { QuotaView } from "../../../../src/plane/routing/quota/QuotaState.ts"
import { QuotaUseRepo } from "../../../../src/subjects/quotaGroups/QuotaUseRepo.ts"
import { reposInMemory } from "../../store/fixtures.ts"

const nowMs = Date.parse("2026-03-10T12:00:00Z")
const hour = 3_600_000

const quota = (more: Partial<QuotaView> = {}): QuotaView => {
  const { total = 100, used = 0 } = more
  const untilMs = nowMs + hour
  return {
    window: "daily",
    unit: "requests",
    source: "declared",
    used,
    total,
    remaining: total - used,
    resetAtMs: untilMs,
    untilMs,
    ...more
  }
}

const tokens = (count: number) => ({ tokens: count, costNanoUsd: 1_000_000_000 })
const of = (...views: ReadonlyArray<QuotaView>) => knownQuotas(views)

describe("the quotas that can be shared", () => {
  it("are those with a known remainder, the tightest of a window and unit", () => {
    const tight = quota({ used: 90 })
    const known = of(quota(), tight, quota({ window: "5h", unit: "percent", remaining: null }), quota({ unit: "usd" }))
    assert.deepStrictEqual([...known.keys()], ["daily/requests", "daily/usd"])
    assert.strictEqual(known.get("daily/requests"), tight)
  })
})

describe("what a key has drawn", () => {
  it("is counted in the unit of the quota, until the window resets", () => {
    const views = [quota(), quota({ unit: "tokens" }), quota({ unit: "usd" })]
    let draws: Draws = noDraws
    for (let call = 0; call < 3; call++) draws = drawn(draws, of(...views), tokens(7), nowMs)
    assert.deepStrictEqual(
      views.map((view) => ownUse(view, draws, noDraws, nowMs)),
      [3, 21, 3]
    )
    assert.strictEqual(ownUse(quota(), draws, noDraws, nowMs + hour), 0)
    assert.deepStrictEqual(drawn(draws, of(), tokens(1), nowMs + hour), {})
  })

  it("ends when the window was first said to end, however often the end is put off", () => {
    let draws: Draws = noDraws
    for (const minutes of [0, 20, 40]) {
      const atMs = nowMs + minutes * 60_000
      draws = drawn(draws, of(quota({ untilMs: atMs + hour })), tokens(1), atMs)
    }
    assert.strictEqual(ownUse(quota(), draws, noDraws, nowMs + hour - 1), 3)
    assert.strictEqual(ownUse(quota(), draws, noDraws, nowMs + hour), 0)
  })

  it("of a percentage is what was added to it, by the tokens of all", () => {
    const shown = (used: number) => quota({ window: "5h", unit: "percent", used })
    // 20 % were used before the first request here.
    const mine = drawn(noDraws, of(shown(20)), tokens(299), nowMs)
    const all = drawn(mine, of(shown(40)), tokens(99), nowMs)
    assert.strictEqual(ownUse(shown(60), mine, all, nowMs), 30)
    assert.strictEqual(ownUse(shown(10), mine, all, nowMs), 0, "the provider has begun anew")
    assert.strictEqual(ownUse(shown(60), noDraws, all, nowMs), 0)
  })

  it("is not counted in a window without an end", () => {
    assert.deepStrictEqual(drawn(noDraws, of(quota({ untilMs: Number.POSITIVE_INFINITY })), tokens(1), nowMs), {})
  })
})

describe("DrawLedger", () => {
  it.effect("survives a restart; what is over or cannot be read leaves the store", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(nowMs)
      const repo = yield* QuotaUseRepo
      const draws = drawn(noDraws, of(quota()), tokens(7), nowMs)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const ledger = yield* makeDrawLedger
          ledger.put("g c k", draws)
          ledger.put("g c short", drawn(noDraws, of(quota({ untilMs: nowMs + 1 })), tokens(1), nowMs))
          assert.deepStrictEqual(ledger.of("g c other"), {})
        })
      )
      yield* repo.save("g c broken", "{")
      yield* TestClock.setTime(nowMs + 2)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const ledger = yield* makeDrawLedger
          assert.deepStrictEqual(ledger.of("g c k"), draws)
          assert.deepStrictEqual(ledger.of("g c short"), {})
        })
      )
      assert.deepStrictEqual(
        (yield* repo.list).map(({ key }) => key),
        ["g c k"]
      )
    }).pipe(Effect.provide(reposInMemory))
  )
})
