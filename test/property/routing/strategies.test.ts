import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { reasonText } from "../../../src/plane/routing/candidate/Reason.ts"
import { decodeStored, noPolicy } from "../../../src/subjects/combos/entity/ComboPolicy.ts"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import type { Candidate, QuotaWindow } from "../../../src/plane/routing/candidate/Candidate.ts"
import { blankMemory, type StrategyInput, type StrategyMemory } from "../../../src/plane/routing/candidate/Strategy.ts"
import { type OrderingStrategy, strategies } from "../../../src/plane/routing/strategies/index.ts"
import { nowMs, plainFeatures } from "../../support/Candidates.ts"
import { candidate, facts } from "../../unit/routing/strategies/support.ts"
import { counted } from "../../support/slowRun.ts"

const run = { seed: 20_261_121, numRuns: counted(100, 300) }

const names: ReadonlyArray<OrderingStrategy> = [
  "priority",
  "weighted",
  "round-robin",
  "context-relay",
  "fill-first",
  "p2c",
  "random",
  "least-used",
  "cost-optimized",
  "reset-aware",
  "reset-window",
  "headroom",
  "strict-random",
  "lkgp",
  "context-optimized"
]

const quota: FC.Arbitrary<QuotaWindow> = FC.record({
  window: FC.constantFrom("5h", "hourly", "daily", "weekly", "monthly"),
  remaining: FC.oneof(FC.constantFrom(0, 1), FC.double({ min: 0, max: 1, noNaN: true })),
  resetAtMs: FC.option(FC.integer({ min: nowMs - 1_000_000, max: nowMs + 3_000_000_000 }), { nil: null })
})

const amount = FC.oneof(FC.constantFrom(0, 1), FC.double({ min: 0, max: 1_000, noNaN: true }))

const given: FC.Arbitrary<Partial<Candidate>> = FC.record({
  weight: FC.oneof(amount, FC.constantFrom(-1, Number.NaN)),
  facts: FC.option(FC.nat(300_000), { nil: null }).map((contextLength) => facts(contextLength).facts),
  price: FC.option(FC.record({ inputUsd: amount, outputUsd: amount }), { nil: null }),
  breaker: FC.constantFrom("CLOSED", "DEGRADED", "OPEN", "HALF_OPEN"),
  performance: FC.option(
    FC.record({
      samples: FC.nat(3),
      p50Ms: amount,
      p95Ms: amount,
      deviationMs: amount,
      errorRate: FC.double({ min: 0, max: 1, noNaN: true }),
      ttftMs: FC.constant(null),
      tokensPerSecond: FC.constant(null)
    }),
    { nil: null }
  ),
  quotas: FC.array(quota, { maxLength: 3 }),
  used: FC.nat(5),
  inFlight: FC.nat(2)
})

const universe = Array.from({ length: 12 }, (_, index) => `c${index}`)

const targets = universe.map((id) => candidate(id))

const pool: FC.Arbitrary<ReadonlyArray<Candidate>> = FC.array(given, {
  minLength: 1,
  maxLength: universe.length
}).map((each) => each.map((some, index) => Object.assign({}, targets[index]!, some)))

const keys = FC.constantFrom(...universe.map((id) => `${id} m`), "gone m")

const memory: FC.Arbitrary<StrategyMemory> = FC.record({
  turns: FC.nat(1_000_000),
  sticky: FC.option(FC.record({ key: keys, left: FC.integer({ min: -1, max: 5 }) }), { nil: null }),
  deck: FC.uniqueArray(keys),
  lastDealt: FC.option(keys, { nil: null }),
  lastKnownGood: FC.option(
    FC.record({ connectionId: FC.constantFrom(...universe, "gone"), model: FC.constantFrom("m", "other") }),
    { nil: null }
  ),
  credits: FC.constant({})
})

const configKeys = [
  "stickyWeightedLimit",
  "stickyRoundRobinLimit",
  "resetAwareSessionWeight",
  "resetAwareWeeklyWeight",
  "resetAwareTieBandPercent",
  "resetAwareExhaustionGuardPercent",
  "resetWindowWindows",
  "resetWindowTieBandMs"
]

const value = FC.oneof(
  FC.double(),
  FC.integer({ min: -2, max: 120 }),
  FC.constantFrom("weekly", ["session"]),
  FC.jsonValue()
)

const policy = FC.dictionary(
  FC.oneof(FC.constantFrom(...configKeys), FC.constantFrom("__proto__", "toString")),
  value,
  { maxKeys: 6 }
).map(decodeStored)

const inputs: FC.Arbitrary<Omit<StrategyInput, "random"> & { readonly seed: number }> = FC.record({
  candidates: pool,
  features: FC.record({
    promptTokens: FC.nat(300_000),
    maxOutputTokens: FC.option(FC.nat(50_000), { nil: null })
  }).map((sizes) => Object.assign({}, plainFeatures, sizes)),
  policy,
  memory,
  seed: FC.integer(),
  nowMs: FC.constant(nowMs)
})

const decide = (
  name: OrderingStrategy,
  { seed, ...input }: Omit<StrategyInput, "random"> & { readonly seed: number }
) => strategies[name].order({ ...input, random: makeSeededRandom(seed) })

const freeze = <A>(value: A): A => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) freeze(part)
  }
  return value
}

const through = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

const firstKeys = (name: OrderingStrategy, pools: ReadonlyArray<ReadonlyArray<Candidate>>, seed: number) => {
  const random = makeSeededRandom(seed)
  let memory = blankMemory
  return pools.map((candidates) => {
    const ordering = strategies[name].order({
      candidates,
      features: plainFeatures,
      policy: noPolicy,
      memory,
      random,
      nowMs
    })
    // As after a restart each time.
    memory = through(ordering.memory)
    return ordering.order[0]!.key
  })
}

/** Pools out of one list of targets: `c0` and `c1` are always there, the others come and go. */
const changing = FC.array(FC.subarray(universe.slice(2)), { minLength: 2, maxLength: 80 }).map((subsets) =>
  subsets.map((some) => [...universe.slice(0, 2), ...some].map((id) => targets[universe.indexOf(id)]!))
)

it("there is a strategy for every name but auto and fusion", () =>
  assert.deepStrictEqual(Object.keys(strategies), [...names]))

for (const name of names) {
  describe(`${name}: all inputs`, () => {
    it("orders every candidate exactly once and changes nothing it was given", () =>
      FC.assert(
        FC.property(inputs, (input) => {
          freeze(input.memory)
          freeze(input.policy)
          Object.freeze(input.candidates)
          for (const each of input.candidates) freeze(each.quotas)
          for (const each of input.candidates) Object.freeze(each)
          const { order } = decide(name, input)
          assert.strictEqual(order.length, input.candidates.length)
          assert.strictEqual(new Set(order).size, order.length)
          assert.isTrue(order.every((each) => input.candidates.includes(each)))
        }),
        run
      ))

    it("decides the same again, also with a memory that was on file", () =>
      FC.assert(
        FC.property(inputs, (input) => {
          const ordering = decide(name, input)
          for (const again of [input, { ...input, memory: through(input.memory) }]) {
            const { order, ...rest } = decide(name, again)
            // Targets one by one: the records behind them are deep.
            assert.isTrue(order.every((each, index) => each === ordering.order[index]))
            assert.deepStrictEqual({ ...rest, order: [] }, { ...ordering, order: [] })
          }
          assert.deepStrictEqual(through(ordering.memory), ordering.memory)
        }),
        run
      ))

    it("gives a reason that can stand in a header, and scores that can be reckoned again", () =>
      FC.assert(
        FC.property(inputs, (input) => {
          const { reason, scores, weights } = decide(name, input)
          assert.match(reasonText(reason), /^[a-z][a-z, ]{3,40}$/)
          for (const { factors, score } of scores?.values() ?? []) {
            const sum = Object.entries(weights ?? {}).reduce(
              (sum, [factor, weight]) => sum + weight * factors[factor]!,
              0
            )
            assert.closeTo(score, sum, 1e-9)
            assert.isTrue(Number.isFinite(score))
          }
        }),
        run
      ))

    it("bears targets that come and go, and answers in between", () =>
      FC.assert(
        FC.property(
          FC.array(FC.tuple(inputs, FC.nat(20)), { minLength: 1, maxLength: 15 }),
          FC.integer(),
          (steps, seed) => {
            const random = makeSeededRandom(seed)
            let memory = blankMemory
            for (const [input, answering] of steps) {
              const ordering = strategies[name].order({ ...input, memory, random })
              assert.strictEqual(new Set(ordering.order).size, input.candidates.length)
              memory = ordering.memory
              const server = ordering.order[answering % ordering.order.length]!
              memory = strategies[name].served?.(memory, server, input.policy) ?? memory
              assert.isAtMost(memory.deck.length, universe.length)
              assert.strictEqual(new Set(memory.deck).size, memory.deck.length)
              assert.isTrue(Number.isSafeInteger(memory.turns))
              if (memory.sticky !== null) assert.isTrue(Number.isInteger(memory.sticky.left) && memory.sticky.left > 0)
            }
          }
        ),
        { ...run, numRuns: 100 }
      ))
  })
}

describe("fairness while targets come and go", () => {
  it("round-robin: those always there have the same number of turns, none two in a row", () =>
    FC.assert(
      FC.property(changing, FC.integer(), (pools, seed) => {
        const seen = firstKeys("round-robin", pools, seed)
        const count = (key: string) => seen.filter((each) => each === key).length
        assert.isAtMost(Math.abs(count("c0/m") - count("c1/m")), 1)
        for (const [index, key] of seen.entries()) assert.notStrictEqual(key, seen[index + 1])
      }),
      run
    ))

  it("random: none two in a row, and none that is always there waits longer than two decks", () =>
    FC.assert(
      FC.property(changing, FC.integer(), (pools, seed) => {
        const seen = firstKeys("random", pools, seed)
        for (const [index, key] of seen.entries()) assert.notStrictEqual(key, seen[index + 1])
        for (const key of ["c0/m", "c1/m"]) {
          let waited = 0
          for (const each of seen) {
            waited = each === key ? 0 : waited + 1
            assert.isBelow(waited, 2 * universe.length)
          }
        }
      }),
      run
    ))

  it("random: with the same targets every deck deals each of them once", () =>
    FC.assert(
      FC.property(FC.integer({ min: 1, max: universe.length }), FC.integer(), (size, seed) => {
        const same = targets.slice(0, size)
        const seen = firstKeys(
          "random",
          Array.from({ length: 4 * size }, () => same),
          seed
        )
        for (let deck = 0; deck < 4; deck++) {
          assert.strictEqual(new Set(seen.slice(deck * size, (deck + 1) * size)).size, size)
        }
      }),
      run
    ))
})
