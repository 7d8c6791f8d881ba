import { assert, describe, it } from "@effect/vitest"
import {
  configProblems as problemsIn,
  decodeStored,
  maxConfigChars,
  noPolicy
} from "../../../../src/subjects/combos/entity/ComboPolicy.ts"
import { builtInNames } from "../../../../src/plane/routing/auto/RouterStrategies.ts"

const configProblems = (config: Record<string, unknown>, names = builtInNames) => problemsIn(config, names)

const fields = (config: Record<string, unknown>) => configProblems(config).map(({ field }) => field)

describe("a combo's config at save", () => {
  it("accepts every known key, and null for not given", () => {
    assert.deepStrictEqual(
      configProblems({
        judgeModel: "openai/gpt-4o",
        fusionTuning: { minPanel: 2, stragglerGraceMs: 8_000, panelHardTimeoutMs: 90_000 },
        routerStrategy: "sla-aware",
        auto: {
          weights: { health: 2, costInv: 1 },
          candidatePool: ["openai", "groq"],
          routerStrategy: "eco",
          explorationRate: 0
        },
        modePack: "cost-saver",
        budgetCap: 0.01,
        slaTargetP95Ms: 2_000,
        slaMaxErrorRate: 0.05,
        slaMaxCostPer1MTokens: 3,
        slaHardConstraints: true,
        sla: { targetP95Ms: 1, maxErrorRate: 1, maxCostPer1MTokens: 0, hardConstraints: false },
        maxRetries: 0,
        retryDelayMs: 0,
        targetTimeoutMs: 50,
        queueDepth: 0,
        stickyRoundRobinLimit: 3,
        hedging: true,
        hedgeDelayMs: 500,
        handoffModel: "",
        sessionAffinity: "prompt",
        resetWindowWindows: ["weekly", "session"],
        explorationRate: null,
        weights: null
      }),
      []
    )
  })

  it("names the place of everything that is wrong", () => {
    const wrong: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
      [{ judgeModel: "" }, "config.judgeModel"],
      [{ sessionAffinity: "sticky" }, "config.sessionAffinity"],
      [{ sessionAffinity: true }, "config.sessionAffinity"],
      [{ fusionTuning: 3 }, "config.fusionTuning"],
      [{ fusionTuning: { minPanel: -1 } }, "config.fusionTuning.minPanel"],
      [{ fusionTuning: { stragglerGraceMs: -1 } }, "config.fusionTuning.stragglerGraceMs"],
      [{ routerStrategy: "magic" }, "config.routerStrategy"],
      [{ auto: { routerStrategy: 7 } }, "config.auto.routerStrategy"],
      [{ auto: [] }, "config.auto"],
      [{ auto: { weights: { health: -1 } } }, "config.auto.weights.health"],
      [{ auto: { weights: { luck: 1 } } }, "config.auto.weights.luck"],
      [{ auto: { weights: { health: 0 } } }, "config.auto.weights"],
      [{ auto: { weights: {} } }, "config.auto.weights"],
      [{ weights: { health: "1" } }, "config.weights.health"],
      [{ auto: { candidatePool: "openai" } }, "config.auto.candidatePool"],
      [{ auto: { candidatePool: [] } }, "config.auto.candidatePool"],
      [{ modePack: "warp" }, "config.modePack"],
      [{ budgetCap: 0 }, "config.budgetCap"],
      [{ budgetCap: Infinity }, "config.budgetCap"],
      [{ explorationRate: 1.1 }, "config.explorationRate"],
      [{ slaTargetP95Ms: 0 }, "config.slaTargetP95Ms"],
      [{ slaMaxErrorRate: 2 }, "config.slaMaxErrorRate"],
      [{ slaHardConstraints: "yes" }, "config.slaHardConstraints"],
      [{ sla: { targetP95Ms: "fast" } }, "config.sla.targetP95Ms"],
      [{ maxRetries: 11 }, "config.maxRetries"],
      [{ maxRetries: 0.5 }, "config.maxRetries"],
      [{ targetTimeoutMs: 49 }, "config.targetTimeoutMs"],
      [{ queueDepth: 101 }, "config.queueDepth"],
      [{ concurrencyPerModel: 0 }, "config.concurrencyPerModel"],
      [{ stickyWeightedLimit: 1_001 }, "config.stickyWeightedLimit"],
      [{ handoffThreshold: 0.95 }, "config.handoffThreshold"],
      [{ nestedComboMode: "execute" }, "config.nestedComboMode"],
      [{ resetWindowWindows: [] }, "config.resetWindowWindows"],
      [{ resetWindowWindows: "yearly" }, "config.resetWindowWindows"]
    ]
    for (const [config, field] of wrong) assert.deepStrictEqual(fields(config), [field], JSON.stringify(config))
    assert.deepStrictEqual(fields({ maxRetries: -1, budgetCap: "free" }), ["config.maxRetries", "config.budgetCap"])
  })

  it("keeps unknown keys, but not misspelled ones", () => {
    assert.deepStrictEqual(configProblems({ myNote: "x", tag: 1 }), [])
    for (const [key, meant] of [
      ["judgemodel", "judgeModel"],
      ["judge_model", "judgeModel"],
      ["maxRetrys", "maxRetries"],
      ["weigths", "weights"],
      ["budgetCaps", "budgetCap"],
      ["SLA", "sla"]
    ] as const) {
      const [problem] = configProblems({ [key]: 1 })
      assert.strictEqual(problem?.field, `config.${key}`)
      assert.include(problem?.message, `'${meant}'`)
    }
    assert.deepStrictEqual(fields({ auto: { candidatPool: [] } }), ["config.auto.candidatPool"])
  })

  it("refuses what it knows and does not do, and says why", () => {
    for (const config of [
      { reasoningTokenBufferEnabled: true },
      { zeroLatencyOptimizationsEnabled: true },
      { resetAwareQuotaCacheTtlMs: 5_000 },
      { timeoutMs: 5 },
      { fallbackCompressionMode: "lite" },
      { shadowRouting: { enabled: true } },
      { complexityAwareRouting: true }
    ]) {
      const [key = ""] = Object.keys(config)
      const [problem] = configProblems(config)
      assert.strictEqual(problem?.field, `config.${key}`)
      assert.include(problem?.message, "is not supported: ")
    }
    assert.deepStrictEqual(
      configProblems({
        reasoningTokenBufferEnabled: false,
        zeroLatencyOptimizationsEnabled: false,
        resetAwareQuotaCacheTtlMs: 0,
        complexityAwareRouting: false
      }),
      []
    )
  })

  it("takes router strategies that were registered", () => {
    assert.deepStrictEqual(configProblems({ routerStrategy: "mine" }, ["rules", "mine"]), [])
  })

  it("is bounded", () => {
    assert.deepStrictEqual(fields({ note: "x".repeat(maxConfigChars) }), ["config"])
  })

  it("is not led astray by names of the language", () => {
    const config = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "toString": null}') as Record<string, unknown>
    assert.deepStrictEqual(configProblems(config), [])
  })
})

describe("a stored config", () => {
  it("counts what may not be saved as not given, field by field", () => {
    const stored = {
      maxRetries: 11,
      retryDelayMs: 250,
      hedging: "no",
      targetTimeoutMs: 49,
      sessionAffinity: "sticky",
      stickyRoundRobinLimit: 1e9,
      handoffProviders: ["openai", 7],
      resetWindowWindows: ["weekly", "yearly"],
      auto: { weights: { luck: 1 }, explorationRate: 0.2 },
      sla: [],
      slaMaxErrorRate: 0.1,
      fusionTuning: { minPanel: "3", stragglerGraceMs: 5 },
      judgeModel: "",
      myNote: {}
    }
    assert.deepStrictEqual(decodeStored(stored), {
      ...noPolicy,
      retryDelayMs: 250,
      auto: { ...noPolicy.auto, explorationRate: 0.2, sla: { ...noPolicy.auto.sla, maxErrorRate: 0.1 } },
      fusionTuning: { ...noPolicy.fusionTuning, stragglerGraceMs: 5 }
    })
  })

  it("has every default in one place", () =>
    assert.deepStrictEqual(noPolicy, {
      maxRetries: null,
      retryDelayMs: null,
      failoverBeforeRetry: true,
      fallbackDelayMs: 0,
      maxSetRetries: 0,
      setRetryDelayMs: 2_000,
      targetTimeoutMs: null,
      concurrencyPerModel: null,
      queueTimeoutMs: null,
      queueDepth: null,
      hedging: null,
      hedgeDelayMs: null,
      predictiveTtftMs: 0,
      stickyRoundRobinLimit: 0,
      stickyWeightedLimit: 0,
      sessionAffinity: null,
      trackMetrics: true,
      lkgpEnabled: true,
      resetAwareSessionWeight: 0.35,
      resetAwareWeeklyWeight: 0.65,
      resetAwareTieBandPercent: 5,
      resetAwareExhaustionGuardPercent: 10,
      resetWindowWindows: null,
      resetWindowTieBandMs: 60_000,
      handoffThreshold: 0.85,
      handoffModel: null,
      handoffProviders: null,
      maxMessagesForSummary: 30,
      maxComboDepth: 10,
      judgeModel: null,
      auto: {
        routerStrategy: null,
        candidatePool: null,
        weights: null,
        pack: null,
        budgetUsd: null,
        explorationRate: null,
        sla: { targetP95Ms: null, maxErrorRate: null, maxCostPer1MTokens: null, hardConstraints: false }
      },
      evalRouting: null,
      fusionTuning: { minPanel: 2, stragglerGraceMs: 8_000, panelHardTimeoutMs: 90_000 }
    }))

  it("has the defaults of evalRouting once that is enabled", () => {
    const defaults = { suiteIds: null, maxAgeHours: 720, minCases: 1, qualityWeight: 0.85, latencyWeight: 0.15 }
    assert.isNull(decodeStored({ evalRouting: { minCases: 3 } }).evalRouting)
    assert.deepStrictEqual(decodeStored({ evalRouting: { enabled: true } }).evalRouting, defaults)
    const given = { enabled: true, suiteIds: ["a"], maxAgeHours: 1, minCases: 2, qualityWeight: 1, latencyWeight: 0 }
    const { enabled, ...others } = given
    assert.deepStrictEqual(decodeStored({ evalRouting: given }).evalRouting, { ...others, suiteIds: new Set(["a"]) })
    for (const [key, value] of [
      ["enabled", 1],
      ["minCases", 0],
      ["qualityWeight", 2],
      ["maxAgeHours", -1],
      ["cacheTtlMs", 60_000]
    ] as const) {
      const [problem] = configProblems({ evalRouting: { enabled, [key]: value } })
      assert.strictEqual(problem?.field, `config.evalRouting.${key}`)
    }
  })

  it("may turn off going back to who answered last in either place", () => {
    for (const config of [{ lkgpEnabled: false }, { auto: { lkgpEnabled: false } }]) {
      assert.isFalse(decodeStored(config).lkgpEnabled)
    }
  })

  it("may be anything at all", () => {
    for (const stored of [null, [], "text", 7, undefined]) assert.deepStrictEqual(decodeStored(stored), noPolicy)
  })
})
