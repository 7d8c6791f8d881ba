/**
 * CPU of one routing decision over 10, 200 and 1,000 candidates: `decide` alone (pure), the snapshot it looks at, and the whole that a
 * request to `auto` costs (resolve, snapshot and decide, by the program's own services). Bundles from src, so it needs no built gateway;
 * nothing is sent anywhere.
 */
import { cpuOf, withSources } from "./lib/sources.mjs"

/** Most CPU milliseconds of one decision, by number of candidates. */
const goals = new Map([
  [200, 1],
  [1000, 5]
])
const sizes = [10, 200, 1000]
const strategyNames = ["priority", "round-robin", "weighted", "p2c", "quota-share", "auto"]
const nowMs = 1_800_000_000_000

const files = {
  comboPolicy: "src/subjects/combos/entity/ComboPolicy.ts",
  decide: "src/plane/routing/decide/Decide.ts",
  snapshot: "src/plane/routing/decide/Candidates.ts",
  strategy: "src/plane/routing/candidate/Strategy.ts",
  routers: "src/plane/routing/auto/RouterStrategies.ts",
  autoId: "src/plane/routing/resolve/AutoId.ts",
  healing: "src/plane/routing/auto/SelfHealing.ts",
  stats: "src/plane/routing/stats/PerformanceStats.ts",
  registry: "src/plane/providers/Registry.ts",
  facts: "src/plane/providers/ModelFacts.ts",
  whole: "bench/lib/wholeDecision.mjs"
}

const providers = ["openai", "anthropic", "groq", "mistral", "deepseek", "gemini", "openrouter", "xai"]
const models = ["gpt-4o", "claude-sonnet-4", "llama-3.3-70b", "mistral-large", "deepseek-chat", "gemini-2.5-pro"]

/** Accounts that differ in everything a strategy looks at, with a window of measurements each. */
const worldOf = ({ facts, registry, stats: statistics }, size) => {
  const stats = statistics.make()
  const specs = providers.map((id) => registry.find(id)).filter((spec) => spec !== null)
  const targets = Array.from({ length: size }, (_, index) => {
    const spec = specs[index % specs.length]
    const connection = {
      id: `connection-${index}`,
      name: `account ${index}`,
      provider: spec.id,
      authType: "apikey",
      tier: ["ultra", "pro", "standard", "free", null][index % 5],
      maxConcurrent: index % 3 === 0 ? 8 : null,
      quotas: []
    }
    const account = { connection, spec, wires: spec.wires, endpoints: {} }
    return { account, model: models[index % models.length], suppressReasoning: false }
  })
  for (const [index, { account, model }] of targets.entries()) {
    for (let sample = 0; sample < 20; sample += 1) {
      stats.record({
        provider: account.spec.id,
        connectionId: account.connection.id,
        model,
        ok: (index + sample) % 17 !== 0,
        latencyMs: 200 + ((index * 37 + sample * 101) % 2_000),
        ttftMs: 100,
        outputTokens: 200,
        atMs: nowMs - 60_000 + sample * 1_000
      })
    }
  }
  const known = { ...facts.unknownFacts, contextLength: 128_000, toolCalling: true, reasoning: false, vision: true }
  const quota = [{ window: "5h", remaining: 0.6, resetAtMs: nowMs + 3_600_000 }]
  const rooms = {
    catalog: { factsOf: () => known },
    health: { unready: () => null },
    breakers: { phaseOf: () => "CLOSED" },
    stats,
    quotas: { of: () => quota },
    price: (_, model) => ({ input: model.length / 10, output: model.length / 2 })
  }
  return { rooms, targets, weights: targets.map((_, index) => 1 + (index % 7)) }
}

const features = {
  wire: "chat",
  stream: true,
  promptTokens: 4_000,
  maxOutputTokens: 1_000,
  hasTools: true,
  hasImages: false,
  wantsReasoning: false,
  wantsSchema: false,
  taskType: "coding",
  specificity: 50,
  sessionKey: null
}

const decisionCall = (engine, world, strategy) => {
  const { rooms, ...resolved } = world
  const resolution = {
    ...resolved,
    combo: null,
    strategy,
    steps: resolved.targets.map((_, index) => index),
    auto: strategy === "auto" ? engine.autoId.parseAutoId("auto/coding") : null,
    quotaGroup: null,
    policy: engine.comboPolicy.noPolicy
  }
  const candidates = engine.snapshot.candidatesOf(rooms, resolution, nowMs)
  let memory = engine.strategy.blankMemory
  let healing = engine.healing.healed
  return (seed) => {
    const decided = engine.decide.decide({
      resolution,
      candidates,
      features,
      memory,
      healing,
      affinity: null,
      modeHeader: null,
      budgetHeader: null,
      routerStrategies: engine.routers.builtInStrategy,
      freeTierStrict: false,
      seed,
      nowMs
    })
    memory = decided.memory ?? memory
    healing = decided.healing
  }
}

/** A request's whole decision. */
const wholeName = "whole (auto)"

/** One row per strategy, one for the snapshot and one for the whole: `{ name, size, bestMs, medianMs }`. */
export const measureDecisions = ({ quick }) => withSources(files, (engine) => measured(engine, quick))

const measured = async (engine, quick) => {
  const windowMs = quick ? 60 : 250
  const figures = []
  for (const size of sizes) {
    const world = worldOf(engine, size)
    const resolution = { targets: world.targets, weights: world.weights }
    for (const name of strategyNames)
      figures.push({ name, size, ...cpuOf(decisionCall(engine, world, name), windowMs) })
    const snapshot = () => engine.snapshot.candidatesOf(world.rooms, resolution, nowMs)
    figures.push({ name: "snapshot", size, ...cpuOf(snapshot, windowMs) })
    const whole = await engine.whole.open({ size, features, nowMs })
    figures.push({ name: wholeName, size, ...cpuOf(whole.request("auto/coding"), windowMs) })
    await whole.close()
  }
  return figures
}

const cell = (figure) => `${figure.bestMs.toFixed(4)} (${figure.medianMs.toFixed(4)})`

/** The figures as a table for people, and what they say about the goals. */
export const decisionText = (figures) => {
  const names = [...strategyNames, "snapshot", wholeName]
  const lines = names.map((name) => {
    const cells = sizes.map((size) => cell(figures.find((figure) => figure.name === name && figure.size === size)))
    return `  ${name.padEnd(18)}${cells.map((text) => text.padStart(20)).join("")}`
  })
  const verdicts = [...goals].map(([size, goalMs]) => {
    const worst = figures
      .filter((figure) => figure.size === size && figure.name !== "snapshot")
      .reduce((most, figure) => (figure.medianMs > most.medianMs ? figure : most))
    const outcome = worst.medianMs < goalMs ? "meets the goal" : "falls short"
    return `${outcome.padEnd(15)} decision over ${size} candidates, dearest (${worst.name}): ${worst.medianMs.toFixed(3)} ms (< ${goalMs} ms)`
  })
  return [
    "CPU ms per decision, best window (median)",
    `  ${"".padEnd(18)}${sizes.map((size) => `${size} candidates`.padStart(20)).join("")}`,
    ...lines,
    "The snapshot is put together of ready state: live statistics are real, health, quotas and facts are fixed answers.",
    "",
    ...verdicts
  ].join("\n")
}
