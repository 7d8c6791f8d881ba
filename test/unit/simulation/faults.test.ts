/** The faults of simulations: the same as those of the fault wall, when they strike, and how they are written. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decodeStored } from "../../../src/subjects/combos/entity/ComboPolicy.ts"
import { defaultResilience } from "../../../src/subjects/resilience/entity.ts"
import { FaultName, ScenarioName } from "../../../src/contract/domain/SimulatedFaults.ts"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import { policyOf } from "../../../src/plane/resilience/failure/Policy.ts"
import { byTarget, Faults } from "../../../src/subjects/routing/commands/faults.ts"
import { usual } from "../../../src/observe/simulation/Behaviour.ts"
import { faults } from "../../../src/observe/simulation/faults/Catalogue.ts"
import { always, type FaultPlan, isInForce } from "../../../src/observe/simulation/faults/Fault.ts"
import { behavioursIn, scenarioOf } from "../../../src/observe/simulation/Scenarios.ts"
import { startMs } from "../../../src/observe/simulation/Simulation.ts"
import { makeUpstreams } from "../../../src/observe/simulation/Upstreams.ts"
import { breakerReportOf } from "../../../src/plane/routing/health/TargetHealth.ts"
import { oddAnswers, slow } from "../../faults/wall/faults/answers.ts"
import { network, streams } from "../../faults/wall/faults/breaks.ts"
import { accounts, rateLimits, requests, troubles } from "../../faults/wall/faults/statuses.ts"
import { resolutionOf, simulated } from "./support.ts"

const wall = new Map(
  [slow, oddAnswers, network, streams, accounts, rateLimits, requests, troubles].flat().map((row) => [row.name, row])
)

const [target] = resolutionOf("priority", [1]).targets

const answerOf = (plan: FaultPlan, streamed: boolean, nowMs = startMs) =>
  makeUpstreams(() => ({ ...usual, faults: [plan] }), makeSeededRandom(1), makeSeededRandom(2), {
    startMs,
    timeouts: defaultResilience.timeouts,
    bannedTexts: []
  }).call(target!, nowMs, {
    streamed,
    refreshed: false,
    firstContentMs: Number.POSITIVE_INFINITY,
    leftMs: Number.POSITIVE_INFINITY
  })

describe("a simulated fault", () => {
  const shared = FaultName.literals.filter((name) => wall.has(name))

  it("is one of the fault wall, but for a few that a wall on loopback cannot have", () => {
    assert.deepStrictEqual(
      FaultName.literals.filter((name) => !wall.has(name)),
      ["connect-timeout", "429-model-quota", "404-no-access", "400-content-refused", "413", "end-without-finish-reason"]
    )
  })

  for (const name of shared) {
    for (const streamed of [false, true]) {
      const expected = wall.get(name)?.[streamed ? "stream" : "whole"] ?? null
      if (expected === null || name === "100-megabytes") continue
      it(`${name} means what the wall expects, ${streamed ? "streamed" : "whole"}`, () => {
        const { failure } = answerOf(always(name), streamed)
        if (expected.ends === "answered") {
          // An account whose token is renewed answers in the end.
          assert.strictEqual(failure?.kind ?? null, name === "401-refreshable" ? "auth_refreshable" : null)
          return
        }
        assert.isNotNull(failure)
        if (failure === null || name === "401-refresh-in-vain") return
        assert.strictEqual(failure.contentBegan, expected.ends === "broken")
        if (expected.ends === "failed") assert.strictEqual(failure.status, expected.status)
        assert.strictEqual(breakerReportOf(failure) === "trip" ? 1 : 0, expected.trips)
        const ended = policyOf(failure).terminal
        const cools = failure.scope === "connection" ? "unavailable" : "active"
        assert.strictEqual(ended ?? cools, expected.health.testStatus)
      })
    }
  }

  it("strikes when and as often as it is planned", () => {
    const flapping: FaultPlan = { ...always("503"), fromMs: 1_000, forMs: 500, everyMs: 2_000 }
    assert.deepStrictEqual(
      [0, 999, 1_000, 1_499, 1_500, 2_999, 3_000, 3_500].map((sinceMs) => isInForce(flapping, sinceMs)),
      [false, false, true, true, false, false, true, false]
    )
    const once: FaultPlan = { ...flapping, everyMs: null }
    assert.deepStrictEqual(
      [1_499, 1_500, 3_000].map((sinceMs) => isInForce(once, sinceMs)),
      [true, false, false]
    )
    assert.isNull(answerOf(flapping, false, startMs + 1_600).failure)
    assert.strictEqual(answerOf(flapping, false, startMs + 1_100).failure?.status, 503)
    // Unpunished, so that the faulty one is asked every time.
    const { targets } = simulated({
      requests: 2_000,
      behaviours: { faults: { one: [{ ...always("400"), rate: 0.25 }] } }
    })
    assert.closeTo(targets[0]!.errors / 2_000, 0.25, 0.03)
  })

  it("comes before what the scenario has in store for the same one", () => {
    const { targets } = simulated({
      requests: 50,
      scenario: "all-down",
      behaviours: { faults: { one: [always("402")] } }
    })
    assert.deepStrictEqual(
      targets.map(({ lastFailure }) => lastFailure?.kind),
      ["credits_exhausted", "capacity", "capacity"]
    )
    assert.deepStrictEqual(targets[0]!.left, { rule: "credits_exhausted", remainingMs: null })
  })

  it("is all of an account's models, where the first has it", () => {
    const [one, two] = resolutionOf("priority", [1, 1]).targets
    const { faults: planned } = behavioursIn(scenarioOf("402"), [one!, { ...one!, model: "n" }, two!])
    assert.deepStrictEqual(Object.keys(planned), ["one"])
  })
})

describe("retries, waits and rounds of a combo in a simulation", () => {
  const run = (config: Readonly<Record<string, unknown>>, scenario: ScenarioName, weights = [1, 1, 1]) => {
    const resolution = resolutionOf("priority", weights)
    const combo = { id: "c", name: "c", strategy: "priority", targets: [], config, isActive: true } as const
    return simulated({
      resolution: { ...resolution, policy: decodeStored(config), combo: { ...combo, createdAtMs: 0, updatedAtMs: 0 } },
      scenario,
      requests: 1,
      behaviours: { latency: { "*": [100, 100] } }
    })
  }
  const callsOf = (report: ReturnType<typeof run>) => report.targets.map(({ calls }) => calls)

  it("asks again where another try may help: before others only when the combo says so", () => {
    assert.deepStrictEqual(callsOf(run({ maxRetries: 2 }, "503")), [1, 1, 0])
    const stubborn = run({ maxRetries: 2, failoverBeforeRetry: false, retryDelayMs: 250 }, "503")
    assert.deepStrictEqual([callsOf(stubborn), stubborn.retries, stubborn.served], [[3, 1, 0], 2, 1])
    assert.closeTo(stubborn.p50Ms!, 4 * 100 + 2 * 250, 1e-6)
    assert.deepStrictEqual(callsOf(run({ maxRetries: 2, failoverBeforeRetry: false }, "402")), [1, 1, 0])
    assert.deepStrictEqual(callsOf(run({ maxRetries: 1 }, "all-down")), [1, 1, 2])
  })

  it("goes round again after the wait, and waits before the next target", () => {
    const rounds = run({ maxSetRetries: 2, setRetryDelayMs: 4_000 }, "all-down")
    assert.deepStrictEqual([callsOf(rounds), rounds.failed], [[3, 3, 3], 1])
    assert.isAtLeast(rounds.durationMs, 8_000)
    assert.deepStrictEqual(callsOf(run({ maxSetRetries: 2 }, "all-refuse-the-request")), [1, 1, 1])
    assert.closeTo(run({ fallbackDelayMs: 700 }, "503").p50Ms!, 900, 1e-6)
  })

  it("gives a target no more than its time", () => {
    const report = run({ targetTimeoutMs: 60 }, "healthy", [1])
    assert.deepStrictEqual(report.targets[0]!.lastFailure, { kind: "first_byte_timeout", status: 504 })
  })
})

describe("faults on the command line", () => {
  it.effect("are read with their part and their time, several of one target in their order", () =>
    Effect.gen(function* () {
      const faultsOf = Schema.decode(Faults)
      const read = yield* faultsOf(["a=b=503:0.3@10+5/20", "one=402", "one=429:0.5", "*=400@2.5"])
      assert.deepStrictEqual(byTarget(read), {
        "a=b": [{ fault: "503", rate: 0.3, fromMs: 10_000, forMs: 5_000, everyMs: 20_000 }],
        one: [{ fault: "402" }, { fault: "429", rate: 0.5 }],
        "*": [{ fault: "400", fromMs: 2_500 }]
      })
      const unknown = yield* Effect.flip(faultsOf(["one=666"]))
      for (const name of FaultName.literals) assert.include(unknown.message, name)
      for (const wrong of ["one", "=402", "one=402:x", "one=402@", "one=402@1/2", "one="]) {
        assert.include((yield* Effect.flip(faultsOf([wrong]))).message, "--fault", wrong)
      }
    })
  )

  it("have a scenario each, which says what it is", () => {
    for (const name of ScenarioName.literals) assert.isNotEmpty(scenarioOf(name).about)
    assert.isNotEmpty(faults["402"].about)
  })
})
