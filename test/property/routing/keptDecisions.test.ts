import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { byStrategy } from "../../../src/plane/routing/candidate/Reason.ts"
import { recordIn, textOf } from "../../../src/plane/routing/records/CompactDecision.ts"
import { type DecisionEntry, recordOf } from "../../../src/plane/routing/records/DecisionRecords.ts"
import { bounded, maxCandidates, maxNameChars } from "../../../src/plane/routing/records/StoredDecision.ts"
import { namedTarget } from "../../support/Candidates.ts"
import type { Score } from "../../../src/plane/routing/candidate/Strategy.ts"
import type { Target } from "../../../src/plane/routing/resolve/ModelResolver.ts"
import { decisionEntry } from "../../support/Decisions.ts"

const run = { seed: 20_261_122, numRuns: 300 }

const targetArb = FC.record({
  provider: FC.constantFrom("p", "q", "r"),
  model: FC.constantFrom("m", "vendor/n", "ü", "x".repeat(maxNameChars), "y".repeat(2 * maxNameChars))
})
const number = FC.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
const scoreArb = FC.record({
  score: number,
  factors: FC.record({ health: number, quota: FC.constantFrom(0.5, 0.5, 1), "": FC.constant(1 / 3) })
})
const excludedArb = FC.record({
  rule: FC.constantFrom("cooldown", "budget"),
  untilMs: FC.option(FC.nat(), { nil: null }),
  detail: FC.string({ maxLength: 2 * maxNameChars })
})

const entryArb: FC.Arbitrary<DecisionEntry> = FC.record({
  given: FC.array(targetArb, { minLength: 1, maxLength: 130 }),
  scoring: FC.constantFrom("all", "all", "none", "some", "mixed"),
  seed: FC.nat(),
  shift: FC.nat(200),
  scores: FC.array(scoreArb, { minLength: 130, maxLength: 130 }),
  exclusions: FC.array(FC.tuple(FC.nat(200), excludedArb), { maxLength: 5 }),
  later: FC.array(FC.tuple(FC.nat(200), excludedArb), { maxLength: 3 }),
  attempts: FC.array(FC.nat(200), { maxLength: 3 }),
  fallback: FC.boolean(),
  weights: FC.option(FC.constant({ health: 0.25, quota: 0.75 }), { nil: null })
}).map(({ attempts, exclusions, fallback, given, later, scores, scoring, seed, shift, weights }) => {
  const targets = given.map(({ model, provider }, index) => namedTarget(provider, `${provider}${index}`, model))
  const at = (place: number) => targets[place % targets.length] ?? namedTarget("none")
  const first = shift % targets.length
  const plain = decisionEntry(`r${seed}`, targets, false)
  const scored = targets.filter((_, index) => scoring === "all" || (scoring !== "none" && index % 2 === 0))
  return Object.assign(plain, {
    resolution: { ...plain.resolution, ...(fallback ? { fallbackModel: "m".repeat(600) } : {}) },
    decision: {
      ...plain.decision,
      seed,
      weights,
      reason: byStrategy("because"),
      order: [...targets.slice(first), ...targets.slice(0, first)],
      scores: new Map<Target, Score>([
        ...scored.map((target, index) => [target, scores[index]!] as const),
        ...(scoring === "mixed"
          ? targets.slice(1, 2).map((target) => [target, { score: 1, factors: {} }] as const)
          : [])
      ]),
      exclusions: new Map(exclusions.map(([place, excluded]) => [at(place), excluded] as const))
    },
    exclusions: new Map(later.map(([place, excluded]) => [at(place), excluded] as const)),
    attempts: attempts.map((place) => ({
      provider: at(place).account.spec.id,
      connectionId: at(place).account.connection.id,
      model: at(place).model,
      status: 200,
      outcome: "completed" as const,
      reason: "http_200",
      startedMs: 1_800_000_000_000 + place,
      latencyMs: place
    })),
    chosen: at(shift)
  }) as unknown as DecisionEntry
})

describe("kept decisions", () => {
  it("are read back as their records, whole", () => {
    FC.assert(
      FC.property(entryArb, (entry) => {
        const record = bounded(recordOf(entry, maxCandidates))
        assert.deepStrictEqual(recordIn(textOf(entry)), record)
      }),
      run
    )
  })

  it("of before are read as well", () => {
    FC.assert(
      FC.property(entryArb, (entry) => {
        const record = bounded(recordOf(entry, maxCandidates))
        assert.deepStrictEqual(recordIn(JSON.stringify(record)), record)
      }),
      { ...run, numRuns: 50 }
    )
  })

  it("take a third of the room of their records", () => {
    const targets = Array.from({ length: 50 }, (_, index) => namedTarget("provider", `c${index}`, "model"))
    const factors = (index: number) =>
      Object.fromEntries(
        Array.from({ length: 12 }, (_, each) => [`factor${each}`, each < 7 ? 1 : Math.sin(index + each)])
      )
    const entry = decisionEntry("r", targets, false)
    const scores = new Map(
      targets.map((target, index) => [target, { score: Math.cos(index), factors: factors(index) }])
    )
    const scored = { ...entry, decision: { ...entry.decision, scores } }
    assert.isBelow(textOf(scored).length, JSON.stringify(recordOf(scored)).length / 3)
  })

  it("whose text was damaged are not read", () => {
    const entry = decisionEntry("r", [namedTarget("a"), namedTarget("b")], true)
    const kept = JSON.parse(textOf(entry)) as Record<string, unknown>
    for (const wrong of [{ columns: ["AAAA", 1] }, { columns: [1] }, { order: [7] }, { targets: ["a"] }, { v: 3 }]) {
      assert.isNull(recordIn(JSON.stringify({ ...kept, ...wrong })))
    }
    assert.isNull(recordIn("{"))
  })
})
