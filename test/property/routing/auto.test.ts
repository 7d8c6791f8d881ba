import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { reasonText } from "../../../src/plane/routing/candidate/Reason.ts"
import { decodeStored } from "../../../src/subjects/combos/entity/ComboPolicy.ts"
import { type FactorName, factorNames, modeNames, sumOf } from "../../../src/subjects/combos/entity/AutoWeights.ts"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import { orderAuto } from "../../../src/plane/routing/auto/Auto.ts"
import { allAutoIds, parseAutoId } from "../../../src/plane/routing/resolve/AutoId.ts"
import { factors } from "../../../src/plane/routing/auto/Factors.ts"
import { makeFitness, staticFitness } from "../../../src/plane/routing/auto/Fitness.ts"
import { poolOf } from "../../../src/plane/routing/auto/Pool.ts"
import { builtInNames, builtInStrategy, type StrategyLookup } from "../../../src/plane/routing/auto/RouterStrategies.ts"
import {
  callEnded,
  healed,
  longestExclusionMs,
  look,
  withHealing
} from "../../../src/plane/routing/auto/SelfHealing.ts"
import { readSample } from "../../../src/plane/routing/auto/TaskType.ts"
import type { Candidate, Features, Performance, QuotaWindow } from "../../../src/plane/routing/candidate/Candidate.ts"
import { nowMs } from "../../support/Candidates.ts"
import { plainAuto } from "../../support/PlainAuto.ts"
import { candidate, features, inputOf } from "../../unit/routing/auto/support.ts"
import { counted } from "../../support/slowRun.ts"

const run = { seed: 20_261_121, numRuns: counted(150, 500) }

const orNull = <A>(arbitrary: FC.Arbitrary<A>) => FC.option(arbitrary, { nil: null })
const fraction = FC.double({ min: 0, max: 1, noNaN: true })
const performanceArb: FC.Arbitrary<Performance> = FC.record({
  samples: FC.nat(20),
  p50Ms: FC.nat(5_000),
  p95Ms: FC.nat(60_000),
  deviationMs: FC.nat(5_000),
  errorRate: fraction,
  ttftMs: FC.constant(null),
  tokensPerSecond: FC.constant(null)
})
const quotaArb: FC.Arbitrary<QuotaWindow> = FC.record({
  window: FC.constantFrom("5h" as const, "hourly" as const, "daily" as const, "weekly" as const, "monthly" as const),
  remaining: FC.double({ min: -0.5, max: 1.5, noNaN: true }),
  resetAtMs: orNull(FC.integer({ min: nowMs - 1_000_000, max: nowMs + 3_000_000_000 }))
})
const candidateArb = FC.record({
  provider: FC.constantFrom("p", "q", "r", "s"),
  model: FC.constantFrom("claude-sonnet-4", "gpt-4o-mini", "x:free", "unknown-coder", "vendor/llama-3"),
  facts: FC.record({
    contextLength: orNull(FC.integer({ min: 1, max: 1_000_000 })),
    maxOutputTokens: orNull(FC.integer({ min: 1, max: 100_000 })),
    vision: orNull(FC.boolean()),
    reasoning: orNull(FC.boolean()),
    toolCalling: orNull(FC.boolean()),
    structuredOutput: orNull(FC.boolean())
  }),
  rest: FC.record({
    tier: orNull(FC.constantFrom("ultra" as const, "pro" as const, "standard" as const, "free" as const)),
    price: orNull(
      FC.record({
        inputUsd: FC.double({ min: 0, max: 100, noNaN: true }),
        outputUsd: FC.double({ min: 0, max: 500, noNaN: true })
      })
    ),
    breaker: FC.constantFrom("CLOSED" as const, "DEGRADED" as const, "HALF_OPEN" as const, "OPEN" as const),
    performance: orNull(performanceArb),
    quotas: FC.array(quotaArb, { maxLength: 3 }),
    used: FC.nat(1_000),
    inFlight: FC.nat(10)
  })
})
const poolArb = FC.array(candidateArb, { minLength: 1, maxLength: 12 }).map((given) =>
  given.map(({ facts, model, provider, rest }, index) => candidate(`${provider}#${index}`, { model, facts, ...rest }))
)
const featuresArb: FC.Arbitrary<Features> = FC.record({
  promptTokens: FC.nat(300_000),
  maxOutputTokens: orNull(FC.integer({ min: 1, max: 64_000 })),
  hasTools: FC.boolean(),
  hasImages: FC.boolean(),
  wantsSchema: FC.boolean(),
  taskType: FC.constantFrom("coding" as const, "review" as const, "planning" as const, "default" as const),
  specificity: FC.nat(100)
}).map(features)
const weightsArb = FC.dictionary(FC.constantFrom(...factorNames), FC.double({ min: 0, max: 1_000, noNaN: true }), {
  minKeys: 1
}).filter((weights) => Object.values(weights).some((weight) => weight > 1e-6))
const configArb = FC.record(
  {
    routerStrategy: FC.constantFrom(...builtInNames, "nobody"),
    explorationRate: fraction,
    auto: FC.record({ weights: weightsArb }),
    modePack: FC.constantFrom(...modeNames),
    budgetCap: FC.double({ min: 1e-6, max: 10, noNaN: true }),
    candidatePool: FC.subarray(["p", "q", "nobody"], { minLength: 1 }),
    slaTargetP95Ms: FC.integer({ min: 1, max: 5_000 }),
    slaHardConstraints: FC.boolean()
  },
  { requiredKeys: [] }
)
const caseArb = FC.record({
  candidates: poolArb,
  unavailable: poolArb,
  asked: featuresArb,
  config: configArb,
  id: FC.constantFrom(...allAutoIds),
  seed: FC.nat(),
  strict: FC.boolean(),
  good: FC.nat(12)
})

type Case = typeof caseArb extends FC.Arbitrary<infer A> ? A : never

const inputOfCase = ({ asked, candidates, config, good, id, seed, strict, unavailable }: Case) => ({
  ...inputOf(candidates),
  policy: decodeStored(config),
  features: asked,
  spec: parseAutoId(id)!,
  random: makeSeededRandom(seed),
  freeTierStrict: strict,
  // Keys of their own: in another pool the same account would be the same candidate.
  unavailable: unavailable.map((each) => ({ ...each, key: `away ${each.key}` })),
  memory: {
    ...inputOf(candidates).memory,
    lastKnownGood:
      candidates[good] === undefined
        ? null
        : { connectionId: candidates[good].target.account.connection.id, model: candidates[good].target.model }
  }
})

const decide = (given: Case) => orderAuto(inputOfCase(given))

/** Through the way that custom strategies go, so that nothing of what the built-in ones leave out is left out. */
const byTheWayOfCustom: StrategyLookup = (name) => {
  const strategy = builtInStrategy(name)
  return strategy === null ? null : { ...strategy }
}

/** Maps become lists, so that a map made late is told from one made at once by nothing. */
/** The targets are compared with the order. */
const shown = (result: ReturnType<typeof orderAuto>) => {
  const { targets: _, ...rest } = { targets: undefined, ...result }
  return { ...rest, scores: [...result.scores] }
}

describe("orderAuto", () => {
  it("decides what the definition says, also when candidates change between decisions", () => {
    FC.assert(
      FC.property(
        caseArb,
        FC.array(FC.tuple(FC.nat(11), candidateArb, FC.boolean()), { maxLength: 4 }),
        (given, changes) => {
          // Some have gone down in score before.
          let healing = healed
          let { candidates } = given
          for (const change of [null, ...changes]) {
            if (change !== null) {
              const [index, { rest }, isLow] = change
              candidates = candidates.map((each, at) =>
                at === index % candidates.length ? { ...each, ...rest } : each
              )
              const key = candidates[index % candidates.length]!.key
              if (isLow) healing = withHealing(healing, [[key, look(null, 0, nowMs - 400_000).healing]])
            }
            const input = { ...inputOfCase({ ...given, candidates }), healing }
            const wanted = plainAuto({ ...input, random: makeSeededRandom(given.seed), strategies: byTheWayOfCustom })
            const found = orderAuto({ ...input, random: makeSeededRandom(given.seed) })
            assert.deepStrictEqual(shown(found), shown(wanted))
            if (found._tag !== "Ordered" || found.targets === undefined) continue
            const targets = found.order.map(({ target }) => target)
            assert.isTrue(
              found.targets.length === targets.length && targets.every((each, at) => each === found.targets?.[at])
            )
          }
        }
      ),
      run
    )
  })

  it("scores every candidate by the weighted sum of what it records, in [0, 1]", () => {
    FC.assert(
      FC.property(caseArb, (given) => {
        const { scores, weights } = decide(given)
        assert.strictEqual(scores.size, given.candidates.length + given.unavailable.length)
        assert.closeTo(sumOf(weights), 1, 1e-9)
        for (const { factors: recorded, score } of scores.values()) {
          let sum = 0
          for (const [name, weight] of Object.entries(weights)) sum += weight * recorded[name]!
          assert.closeTo(score, sum, 1e-9)
          for (const value of Object.values(recorded)) assert(value >= 0 && value <= 1, String(value))
          assert(score >= 0 && score <= 1 + 1e-9)
        }
      }),
      run
    )
  })

  it("orders exactly those it kept, each once; those left out for their score last; the filtered not at all", () => {
    FC.assert(
      FC.property(caseArb, (given) => {
        const result = decide(given)
        const filtered = result.exclusions.filter(({ rule }) => rule !== "score").map((each) => each.candidate.key)
        assert.strictEqual(new Set(result.exclusions.map((each) => each.candidate.key)).size, result.exclusions.length)
        if (result._tag === "NoFreeCandidate") {
          assert(given.strict && given.id.endsWith(":free"))
          assert(filtered.length > 0)
          return
        }
        const order = result.order.map(({ key }) => key)
        assert(order.length > 0)
        assert.deepStrictEqual([...order, ...filtered].toSorted(), given.candidates.map(({ key }) => key).toSorted())
        const out = new Set(result.exclusions.filter(({ rule }) => rule === "score").map((each) => each.candidate.key))
        assert(order.slice(order.length - out.size).every((key) => out.has(key)))
        assert(!out.has(order[0]!))
        // Behind the first, and before those left out, the better score comes first (probes and explorations stand in front).
        const rest = order.slice(result.detour === null ? 1 : 2, order.length - out.size)
        rest.forEach((key, index) => {
          const next = rest[index + 1]
          if (next !== undefined) assert(result.scores.get(key)!.score >= result.scores.get(next)!.score)
        })
        assert.match(reasonText(result.reason), /^[\x20-\x3a\x3c-\x7e]{1,120}$/)
      }),
      run
    )
  })

  it("decides the same again with the same seed, and changes nothing it was given", () => {
    FC.assert(
      FC.property(caseArb, (given) => {
        const before = JSON.stringify(given)
        assert.deepStrictEqual(decide(given), decide(given))
        assert.strictEqual(JSON.stringify(given), before)
      }),
      { ...run, numRuns: 200 }
    )
  })

  it("scaling all weights does not change the order", () => {
    FC.assert(
      FC.property(poolArb, featuresArb, weightsArb, FC.constantFrom(0.001, 0.5, 2, 1_024), (pool, asked, given, by) => {
        const scaled = Object.fromEntries(Object.entries(given).map(([name, weight]) => [name, weight * by]))
        const scoresBy = (weights: object) => {
          const result = orderAuto({ ...inputOf(pool), features: asked, policy: decodeStored({ auto: { weights } }) })
          return pool.map(({ key }) => result.scores.get(key)!.score)
        }
        const [one, other] = [scoresBy(given), scoresBy(scaled)]
        one.forEach((score, index) => assert.closeTo(score, other[index]!, 1e-9))
        const byTwo = orderAuto({
          ...inputOf(pool),
          features: asked,
          policy: decodeStored({ explorationRate: 0, auto: { weights: given } })
        })
        const again = orderAuto({
          ...inputOf(pool),
          features: asked,
          policy: decodeStored({ explorationRate: 0, auto: { weights: scaled } })
        })
        if (byTwo._tag !== "Ordered" || again._tag !== "Ordered") return
        // Scores that differ by no more than rounding may stand either way.
        byTwo.order.forEach(({ key }, index) => {
          const there = again.order[index]!.key
          if (key !== there) assert.closeTo(byTwo.scores.get(key)!.score, byTwo.scores.get(there)!.score, 1e-9)
        })
      }),
      run
    )
  })
})

describe("factors", () => {
  const valueOf = (name: FactorName, pool: ReadonlyArray<Candidate>, asked: Features) =>
    factors[name](pool[0]!, poolOf(pool, staticFitness), asked, nowMs)

  /** A candidate that gets worse in one measure, with all others unchanged, gains nothing in its factor. */
  const falls = (name: FactorName, worsen: (candidate: Candidate, by: number) => Candidate | null) =>
    it(`${name} never rises when its cause gets worse`, () => {
      FC.assert(
        FC.property(poolArb, featuresArb, fraction, (pool, asked, by) => {
          const worse = worsen(pool[0]!, by)
          if (worse === null) return
          assert(valueOf(name, [worse, ...pool.slice(1)], asked) <= valueOf(name, pool, asked) + 1e-9)
        }),
        { ...run, numRuns: counted(200, 800) }
      )
    })
  const slower = (change: (performance: Performance, by: number) => Performance) => (one: Candidate, by: number) =>
    one.performance === null ? null : { ...one, performance: change(one.performance, by) }

  falls("costInv", (one, by) =>
    one.price === null
      ? null
      : { ...one, price: { inputUsd: one.price.inputUsd + by * 50, outputUsd: one.price.outputUsd } }
  )
  falls(
    "latencyInv",
    slower((performance, by) => ({ ...performance, p95Ms: performance.p95Ms + by * 5_000 }))
  )
  falls(
    "stability",
    slower((performance, by) => ({ ...performance, deviationMs: performance.deviationMs + by * 900 }))
  )
  falls(
    "stability",
    slower((performance, by) => ({ ...performance, errorRate: Math.min(1, performance.errorRate + by) }))
  )
  falls("connectionDensity", (one, by) => ({ ...one, inFlight: one.inFlight + Math.ceil(by * 9) }))
  falls("connectionDensity", (one, by) => ({ ...one, used: one.used + Math.ceil(by * 900) }))
  falls("quota", (one, by) =>
    one.quotas.length === 0
      ? null
      : { ...one, quotas: one.quotas.map((window) => ({ ...window, remaining: window.remaining - by })) }
  )
  falls("health", (one) => ({ ...one, breaker: "OPEN" }))
  falls("tierPriority", (one) => ({ ...one, tier: "free" }))
  falls("contextAffinity", ({ facts, ...one }, by) =>
    facts.contextLength === null
      ? null
      : { ...one, facts: { ...facts, contextLength: Math.max(1, Math.floor(facts.contextLength * by)) } }
  )
  falls("resetWindowAffinity", (one, by) => ({
    ...one,
    quotas: one.quotas.map((window) => ({
      ...window,
      // One that is over stays over.
      resetAtMs: window.resetAtMs === null || window.resetAtMs <= nowMs ? window.resetAtMs : window.resetAtMs + by * 1e9
    }))
  }))

  it("taskFit follows an override", () => {
    FC.assert(
      FC.property(poolArb, featuresArb, fraction, (pool, asked, fitness) => {
        const table = makeFitness([{ pattern: "*", task: null, fitness }])
        assert.strictEqual(factors.taskFit(pool[0]!, poolOf(pool, table), asked, nowMs), fitness)
      }),
      run
    )
  })
})

describe("weights", () => {
  it("sum to 1 in proportion, whatever positive numbers were written", () => {
    FC.assert(
      FC.property(weightsArb, (given) => {
        const { weights } = decodeStored({ weights: given }).auto
        assert(weights !== null)
        assert.closeTo(sumOf(weights), 1, 1e-9)
        const sum = Object.values(given).reduce((total, weight) => total + weight, 0)
        for (const name of factorNames) assert.closeTo(weights[name], (given[name] ?? 0) / sum, 1e-9)
      }),
      run
    )
  })
})

describe("self-healing", () => {
  it("never excludes a candidate for more than 30 minutes at a time, and every exclusion ends in a probe", () => {
    const step = FC.record({
      pass: FC.nat(40 * 60_000),
      score: fraction,
      outcome: FC.constantFrom(null, true, false)
    })
    FC.assert(
      FC.property(FC.array(step, { maxLength: 60 }), (steps) => {
        let state = healed
        let now = nowMs
        for (const { outcome, pass, score } of steps) {
          now += pass
          const { healing, standing } = look(state.get("k") ?? null, score, now)
          state = withHealing(state, [["k", healing]])
          if (standing._tag === "out") {
            assert(standing.untilMs > now && standing.untilMs - now <= longestExclusionMs)
            assert.strictEqual(look(state.get("k") ?? null, 1, standing.untilMs).standing._tag, "probe")
          }
          if (standing._tag === "in") assert(score >= 0.2 - 1e-9)
          if (outcome !== null) state = callEnded(state, "k", outcome, now)
        }
      }),
      run
    )
  })
})

describe("readSample", () => {
  it("reads any text", () => {
    FC.assert(
      FC.property(FC.string({ unit: "binary", maxLength: 6_000 }), (text) => {
        const signals = readSample(text)
        for (const count of [signals.code, signals.math, signals.reasoning, signals.domain]) assert(count >= 0)
      }),
      { ...run, numRuns: 200 }
    )
  })
})
