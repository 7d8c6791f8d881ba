import { assert, describe, it } from "@effect/vitest"
import { factorNames, packOfMode, sumOf } from "../../../../src/subjects/combos/entity/AutoWeights.ts"
import { configProblems, decodeStored, noPolicy } from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { budgetOfHeader, weightsOf } from "../../../../src/plane/routing/auto/RequestHeaders.ts"
import { builtInNames } from "../../../../src/plane/routing/auto/RouterStrategies.ts"
import { defaultWeights, listedPacks, packs } from "../../../../src/plane/routing/auto/Weights.ts"
import { steadied } from "../../../../src/plane/routing/auto/SelfHealing.ts"

const near = (one: number, other: number) => Math.abs(one - other) < 1e-12

const weightsIn = (written: unknown) => decodeStored({ auto: { weights: written } }).auto.weights

const problemFields = (config: Record<string, unknown>) =>
  configProblems(config, builtInNames).map(({ field }) => field)

describe("Weights", () => {
  it("every pack sums to 1 and keeps the proportions of the listed numbers", () => {
    for (const pack of Object.values(packs)) assert(near(sumOf(pack), 1))
    for (const [name, listed] of Object.entries(listedPacks)) {
      const numbers: Readonly<Record<string, number>> = listed
      const sum = Object.values(numbers).reduce((total, weight) => total + weight, 0)
      const pack = packs[name as keyof typeof listedPacks]
      for (const factor of factorNames) {
        assert(near(pack[factor], (numbers[factor] ?? 0) / sum), `${name} ${factor}`)
      }
    }
    assert(near(packs["ship-fast"].latencyInv, 0.32 / 0.94))
    assert(near(packs["cost-saver"].costInv, 0.37 / 0.95))
  })

  it("has the default weights that docs/routing.md lists", () => {
    assert.deepStrictEqual(defaultWeights, {
      health: 0.2,
      quota: 0.15,
      costInv: 0.15,
      latencyInv: 0.12,
      taskFit: 0.08,
      stability: 0.05,
      tierPriority: 0.05,
      tierAffinity: 0.05,
      specificityMatch: 0.05,
      contextAffinity: 0.05,
      connectionDensity: 0.05,
      resetWindowAffinity: 0
    })
  })

  it("knows every word of the mode header", () => {
    const words: Record<string, string | null> = {
      fast: "ship-fast",
      balanced: "default",
      default: "default",
      quality: "quality-first",
      cheap: "cost-saver",
      reliable: "reliability-first",
      offline: "offline-friendly",
      "ship-fast": "ship-fast",
      "cost-saver": "cost-saver",
      "quality-first": "quality-first",
      "offline-friendly": "offline-friendly",
      "reliability-first": "reliability-first",
      " Fast ": "ship-fast",
      turbo: null,
      constructor: null,
      "": null
    }
    for (const [word, pack] of Object.entries(words)) assert.strictEqual(packOfMode(word), pack)
  })

  it("takes a whole set in any scale, and says what is wrong with others", () => {
    const half = weightsIn({ health: 2, costInv: 2 })
    assert.strictEqual(half?.health, 0.5)
    assert.strictEqual(half?.costInv, 0.5)
    assert.strictEqual(half?.quota, 0)
    assert.strictEqual(weightsIn({ costInv: 1e308, health: 1e308 })?.health, 0.5)
    const wrong = (written: unknown) => {
      assert.isNull(weightsIn(written))
      return problemFields({ auto: { weights: written } }).map((field) => field.replace("config.", ""))
    }
    assert.deepStrictEqual(wrong({ health: -1, speed: 1, quota: Number.NaN }), [
      "auto.weights.health",
      "auto.weights.speed",
      "auto.weights.quota"
    ])
    assert.deepStrictEqual(wrong({ health: 0, costInv: 0 }), ["auto.weights"])
    assert.deepStrictEqual(wrong({}), ["auto.weights"])
    assert.deepStrictEqual(wrong([1]), ["auto.weights"])
    assert.deepStrictEqual(wrong({ health: "1" }), ["auto.weights.health"])
    assert.deepStrictEqual(wrong({ health: Infinity }), ["auto.weights.health"])
  })

  it("header before own weights before the combo's pack before the id's", () => {
    const weights = weightsIn({ costInv: 1 })
    assert.strictEqual(weightsOf("ship-fast", { weights, pack: "cost-saver" }, "quality"), packs["quality-first"])
    assert.strictEqual(weightsOf("ship-fast", { weights, pack: "cost-saver" }, "balanced"), packs.default)
    assert.strictEqual(weightsOf("ship-fast", { weights, pack: "cost-saver" }, "turbo"), weights)
    assert.strictEqual(weightsOf("ship-fast", { weights: null, pack: "cost-saver" }, null), packs["cost-saver"])
    assert.strictEqual(weightsOf("ship-fast", { weights: null, pack: null }, null), packs["ship-fast"])
  })

  it("incident mode makes stability the greatest weight of every pack and keeps the sum", () => {
    for (const pack of Object.values(packs)) {
      const steady = steadied(pack)
      assert(near(sumOf(steady), 1))
      assert.strictEqual(Math.max(...Object.values(steady)), steady.stability)
      assert(steady.stability >= 0.5)
    }
  })
})

describe("what a combo says to auto", () => {
  it("reads both places of a field", () => {
    const given = {
      auto: { routerStrategy: "sla", candidatePool: ["groq"], weights: { health: 1 } },
      modePack: "fast",
      budgetCap: 0.5,
      explorationRate: 0,
      slaTargetP95Ms: 900,
      sla: { maxErrorRate: 0.1, hardConstraints: true }
    }
    assert.deepStrictEqual(problemFields(given), [])
    const { auto } = decodeStored(given)
    assert.strictEqual(auto.routerStrategy, "sla")
    assert.deepStrictEqual(auto.candidatePool, ["groq"])
    assert.strictEqual(auto.weights?.health, 1)
    assert.strictEqual(auto.pack, "ship-fast")
    assert.strictEqual(auto.budgetUsd, 0.5)
    assert.strictEqual(auto.explorationRate, 0)
    assert.deepStrictEqual(auto.sla, {
      targetP95Ms: 900,
      maxErrorRate: 0.1,
      maxCostPer1MTokens: null,
      hardConstraints: true
    })
    assert.strictEqual(
      decodeStored({ routerStrategy: "cost", auto: { routerStrategy: "sla" } }).auto.routerStrategy,
      "cost"
    )
  })

  it("names every wrong field, and goes on without it", () => {
    const given = {
      auto: { weights: { health: -1 }, candidatePool: "groq" },
      modePack: "turbo",
      budgetCap: 0,
      explorationRate: 1.5,
      routerStrategy: 7,
      slaMaxErrorRate: 2,
      sla: { targetP95Ms: -1 }
    }
    assert.deepStrictEqual(problemFields(given).toSorted(), [
      "config.auto.candidatePool",
      "config.auto.weights.health",
      "config.budgetCap",
      "config.explorationRate",
      "config.modePack",
      "config.routerStrategy",
      "config.sla.targetP95Ms",
      "config.slaMaxErrorRate"
    ])
    assert.deepStrictEqual(decodeStored(given).auto, noPolicy.auto)
    assert.deepStrictEqual(problemFields({ auto: [] }), ["config.auto"])
  })

  it("ignores a budget header that is no positive number", () => {
    assert.strictEqual(budgetOfHeader("0.05"), 0.05)
    assert.strictEqual(budgetOfHeader(" 1e-3 "), 0.001)
    for (const wrong of [null, "", "0", "-1", "abc", "0x10", "Infinity", "1,5", "NaN", "1e999"]) {
      assert.strictEqual(budgetOfHeader(wrong), null, String(wrong))
    }
  })
})
