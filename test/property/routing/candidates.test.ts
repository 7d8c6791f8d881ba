/** Candidates that are kept between requests against candidates that are made anew: the same, whatever happens in between. */
import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { defaultResilience } from "../../../src/subjects/resilience/entity.ts"
import { unknownFacts } from "../../../src/plane/providers/ModelFacts.ts"
import type { Failure } from "../../../src/plane/resilience/failure/FailureKind.ts"
import { makeCandidates, type CandidateSources } from "../../../src/plane/routing/decide/Candidates.ts"
import * as PerformanceStats from "../../../src/plane/routing/stats/PerformanceStats.ts"
import { simulatedHealth } from "../../../src/observe/simulation/Health.ts"
import { accountOf, nowMs as startMs, targetOf } from "../../support/Candidates.ts"

const failure: Failure = {
  kind: "transient",
  place: "status",
  status: 503,
  answered: true,
  reason: "http_503",
  rule: "503",
  message: "down",
  hintMs: null,
  untilMs: null,
  scope: "connection",
  exhausts: "nothing",
  contentBegan: false
}
const limited: Failure = { ...failure, kind: "rate_limit", status: 429, exhausts: "connection" }
const exhausted: Failure = { ...limited, kind: "quota_exhausted", scope: "model", exhausts: "model" }

const targets = ["a", "b", "c"].flatMap((id) => {
  const account = accountOf(id)
  return [targetOf(account, "m"), targetOf(account, "n")]
})

const stepArb = FC.record({
  what: FC.constantFrom(
    "answered",
    "down",
    "limited",
    "exhausted",
    "begun",
    "over",
    "many",
    "price",
    "quota",
    "nothing"
  ),
  at: FC.nat(targets.length - 1),
  // Also a clock that is set back.
  gapMs: FC.oneof(FC.constant(0), FC.integer({ min: 0, max: 5_000 }), FC.integer({ min: -20_000, max: 900_000 }))
})

const world = (areModelsLocked: boolean) => {
  const health = simulatedHealth(
    { ...defaultResilience, modelLockout: { ...defaultResilience.modelLockout, enabled: areModelsLocked } },
    targets
  )
  const stats = PerformanceStats.make()
  const limits = new Map<string, number>()
  let edition = 0
  const sources: CandidateSources = {
    catalog: { factsOf: () => unknownFacts },
    health,
    breakers: health,
    stats,
    quotas: {
      of: ({ id }) => {
        const left = limits.get(id)
        return left === undefined ? [] : [{ window: "daily", remaining: left, resetAtMs: null }]
      },
      knows: ({ id }) => limits.has(id),
      changes: () => limits.size
    },
    price: (_, model) => ({ input: edition, output: model.length })
  }
  return { health, limits, sources, stats, patch: () => (edition += 1), editionOf: () => edition }
}

describe("candidates", () => {
  it("that are kept are those that would be made now", () => {
    FC.assert(
      FC.property(FC.boolean(), FC.array(stepArb, { maxLength: 40 }), (areModelsLocked, steps) => {
        const { editionOf, health, limits, patch, sources, stats } = world(areModelsLocked)
        const { troubles: _, ...watched } = health
        const { of: kept } = makeCandidates({ ...sources, priceEdition: editionOf })
        const anew = () => makeCandidates({ ...sources, health: watched }).of
        const resolution = { targets, weights: targets.map(() => 1), combo: null, strategy: "auto" }
        const ends: Array<() => void> = []
        let nowMs = startMs
        for (const { at, gapMs, what } of steps) {
          nowMs += gapMs
          const target = targets[at]!
          const { id } = target.account.connection
          const call = { target, startedMs: nowMs, endedMs: nowMs, probe: false }
          if (what === "answered") {
            health.ended(call, null)
            stats.record({
              connectionId: id,
              model: target.model,
              ok: true,
              latencyMs: 10 + gapMs ** 2,
              ttftMs: null,
              outputTokens: null,
              atMs: nowMs
            })
          }
          if (what === "down") health.ended(call, failure)
          if (what === "limited") health.ended(call, limited)
          if (what === "exhausted") health.ended(call, { ...exhausted, untilMs: nowMs + 60_000 })
          if (what === "begun") ends.push(stats.begin(id, target.model))
          if (what === "over") ends.pop()?.()
          if (what === "many")
            for (let each = 0; each < 300; each += 1) stats.begin("a", each === 0 ? "m" : "elsewhere")
          if (what === "price") patch()
          if (what === "quota") limits.set(id, (at + 1) / 10)
          const found = kept(resolution, nowMs)
          assert.deepStrictEqual(found, anew()(resolution, nowMs))
        }
      }),
      { seed: 20_261_122, numRuns: 300 }
    )
  })

  it("of which nothing has changed are not looked at again", () => {
    const { editionOf, health, sources, stats } = world(false)
    let looked = 0
    const quotas = {
      of: () => {
        looked += 1
        return none
      },
      knows: () => false,
      changes: () => 0
    }
    const { areReady, of } = makeCandidates({ ...sources, health, priceEdition: editionOf, quotas })
    const resolution = { targets, weights: targets.map(() => 1), combo: null, strategy: "auto" }
    of(resolution, startMs)
    assert.isTrue(areReady(resolution))
    looked = 0
    stats.begin("b", "n")
    assert.strictEqual(of(resolution, startMs + 10)[3]?.inFlight, 1)
    assert.strictEqual(looked, 1)
  })

  it("are the same list while nothing of them changes, and share what has not changed", () => {
    const { editionOf, health, sources, stats } = world(false)
    const quiet = {
      ...sources,
      priceEdition: editionOf,
      quotas: { of: () => none, knows: () => false, changes: () => 0 }
    }
    const { of } = makeCandidates(quiet)
    const resolution = { targets, weights: targets.map(() => 1), combo: null, strategy: "auto" }
    const first = of(resolution, startMs)
    assert.strictEqual(of(resolution, startMs + 1_000), first)
    stats.begin("a", "m")
    const second = of(resolution, startMs + 2_000)
    assert.deepStrictEqual(
      second.map((candidate, index) => candidate === first[index]),
      [false, true, true, true, true, true]
    )
    assert.strictEqual(first[0]?.inFlight, 0)
    health.ended({ target: targets[2]!, startedMs: startMs, endedMs: startMs + 3_000, probe: false }, failure)
    const third = of(resolution, startMs + 3_000)
    assert.deepStrictEqual(
      third.map(({ unready }) => unready?.rule ?? null),
      [null, null, "cooldown", null, null, null]
    )
    assert.strictEqual(third[5], first[5])
  })
})

const none: ReadonlyArray<never> = []
