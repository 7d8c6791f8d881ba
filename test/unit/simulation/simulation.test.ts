import { assert, describe, it } from "@effect/vitest"
import { decodeStored } from "../../../src/subjects/combos/entity/ComboPolicy.ts"
import { noBehaviours, unknownNames } from "../../../src/observe/simulation/Behaviour.ts"
import { latencyMs, percentile, streamsOf } from "../../../src/observe/simulation/Distributions.ts"
import { makeEventQueue } from "../../../src/observe/simulation/EventQueue.ts"
import { jainIndex } from "../../../src/observe/simulation/Fairness.ts"
import type { SimulationReport } from "../../../src/observe/simulation/Report.ts"
import { unknownFacts } from "../../../src/plane/providers/ModelFacts.ts"
import { resolutionOf, simulated, simulationOf } from "./support.ts"

const sharesOf = ({ targets }: SimulationReport) => targets.map(({ share }) => share)
const servedOf = ({ targets }: SimulationReport) => targets.map(({ served }) => served)

describe("what is left to chance", () => {
  it("draws latencies with the median and the 95th percentile that were asked for", () => {
    const [random] = streamsOf(7, 1)
    const drawn = Array.from({ length: 20_000 }, () => latencyMs(random!, 300, 900)).toSorted((a, b) => a - b)
    assert.closeTo(percentile(drawn, 0.5)!, 300, 10)
    assert.closeTo(percentile(drawn, 0.95)!, 900, 45)
    assert.isAbove(drawn[0]!, 0)
  })

  it("lets things happen by time, and at one time in their order", () => {
    const queue = makeEventQueue<string>()
    for (const [atMs, event] of [
      [3, "d"],
      [1, "a"],
      [2, "b"],
      [2, "c"],
      [0, "first"]
    ] as const) {
      queue.put(atMs, event)
    }
    assert.deepStrictEqual(
      Array.from({ length: 6 }, () => queue.take()?.event ?? null),
      ["first", "a", "b", "c", "d", null]
    )
  })

  it("knows Jain's index by hand", () => {
    assert.strictEqual(jainIndex([5, 5], [0.5, 0.5]), 1)
    assert.strictEqual(jainIndex([10, 0], [0.5, 0.5]), 0.5)
    assert.strictEqual(jainIndex([6, 3], [2 / 3, 1 / 3]), 1)
    assert.strictEqual(jainIndex([0, 0], [0.5, 0.5]), null)
  })
})

describe("a simulation", () => {
  it("says the same for the same seed, byte for byte, in whatever portions it runs", () => {
    const given = { strategy: "auto", behaviours: { errors: { "*": 0.1 } }, seed: 42 }
    const once = JSON.stringify(simulated(given))
    const again = simulationOf(given)
    while (again.run(1));
    assert.strictEqual(JSON.stringify(again.report()), once)
    assert.notStrictEqual(JSON.stringify(simulated({ ...given, seed: 43 })), once)
  })

  it("gives all to the first of a priority order, and its price", () => {
    const report = simulated({ strategy: "priority" })
    assert.deepStrictEqual(servedOf(report), [300, 0, 0])
    assert.deepStrictEqual([report.failed, report.fallbacks, report.calls], [0, 0, 300])
    // 1,000 tokens in at 2 USD and 500 out at 4 USD per million.
    assert.closeTo(report.costUsd, 300 * 0.004, 1e-12)
    assert.closeTo(report.fairness.maxDeviation!, 2 / 3, 1e-12)
  })

  it("falls back when the first is down, opens its breaker, and fails nothing", () => {
    const report = simulated({ strategy: "round-robin", behaviours: { errors: { one: 1 } }, requests: 2_000 })
    const [down] = report.targets
    assert.deepStrictEqual([report.served, report.failed, down!.served], [2_000, 0, 0])
    assert.isAbove(down!.breakerOpenings, 0)
    assert.isAbove(report.fallbacks, 0)
    assert.strictEqual(down!.errors, down!.calls)
    // Without cooldowns and breaker it would have been asked 666 times.
    assert.isBelow(down!.calls, 100)
  })

  it("counts a request that no target could serve as failed", () => {
    const report = simulated({ behaviours: { errors: { "*": 1 } } })
    assert.deepStrictEqual([report.served, report.failed], [0, 300])
    assert.deepStrictEqual([report.p50Ms, report.fairness.maxDeviation, report.fairness.jainIndex], [null, null, null])
  })

  it("keeps sessions at their accounts as the combo says, and moves them at a prompt only", () => {
    const sessions = { count: 10, turnsPerPrompt: 10 }
    /** The first account is down for 10 s of 100; what the second serves, and the turns in which sessions changed. */
    const run = (sessionAffinity: string) => {
      const resolution = { ...resolutionOf("priority", [1, 1]), policy: decodeStored({ sessionAffinity }) }
      const [first] = resolution.targets
      const back: Array<number> = []
      const at = new Map<number, unknown>()
      const report = simulated({
        resolution,
        sessions,
        requests: 1_000,
        behaviours: { faults: { one: [{ fault: "503", rate: 1, fromMs: 10_000, forMs: 10_000, everyMs: null }] } },
        watch: {
          decided: () => {},
          called: ({ failure, request, target }) => {
            if (failure !== null) return
            const session = request % sessions.count
            if (target === first && at.has(session) && at.get(session) !== first) {
              back.push(Math.floor(request / sessions.count) % sessions.turnsPerPrompt)
            }
            at.set(session, target)
          }
        }
      })
      return { second: report.targets[1]!.served, back, notes: report.notes.join(" ") }
    }
    const [strict, prompt, off] = [run("strict"), run("prompt"), run("off")]
    assert.deepStrictEqual(strict.back, [])
    assert.isAbove(strict.second, 700)
    assert.isAbove(prompt.back.length, 0)
    assert.deepStrictEqual([...new Set(prompt.back)], [0])
    assert.isBelow(prompt.second, strict.second)
    assert.isBelow(off.second, prompt.second)
    assert.notInclude(prompt.notes, "sessions")
  })

  it("keeps to a quota: what is beyond is answered 429, and the window opens again", () => {
    const quota = { requests: 20, windowMs: 10_000 }
    const report = simulated({ behaviours: { quotas: { one: quota } }, requests: 1_000 })
    const [limited] = report.targets
    const windows = Math.ceil(report.durationMs / quota.windowMs) + 1
    assert.strictEqual(report.failed, 0)
    assert.isAbove(limited!.rateLimited, 0)
    assert.isAtMost(limited!.served, windows * quota.requests)
    assert.isAbove(limited!.served, (windows - 3) * quota.requests)
    // The upstream said when to come back, and was believed: one refusal per window, but for those under way.
    assert.isAtMost(limited!.rateLimited, windows * 5)
    assert.strictEqual(limited!.breakerOpenings, 0)
  })

  it("lets requests arrive in groups", () => {
    const report = simulated({ requests: 25, burst: 10, strategy: "least-used" })
    assert.deepStrictEqual([report.requests, report.served], [25, 25])
  })

  it("follows weights", () => {
    const report = simulated({ strategy: "weighted", weights: [6, 3, 1], requests: 10_000 })
    assert.deepStrictEqual(
      sharesOf(report).map((share) => Math.round(share * 10)),
      [6, 3, 1]
    )
    assert.isAbove(report.fairness.jainIndex!, 0.995)
  })

  it("knows a target by its particular name before a general one, and no unknownNames", () => {
    const behaviours = { ...noBehaviours, errors: { one: 0, "*": 1 } }
    assert.deepStrictEqual(servedOf(simulated({ behaviours, strategy: "random" })), [300, 0, 0])
    const { targets } = resolutionOf("priority", [1, 1])
    const found = unknownNames({ ...behaviours, errors: { "groq/m": 0, openai: 0, m: 0, nobody: 1 } }, targets)
    assert.deepStrictEqual(found, [{ field: "errors", name: "nobody" }])
  })

  it("learns what is constant of a target once, not for each request", () => {
    for (const strategy of ["auto", "lkgp", "cost-optimized"]) {
      const asked = new Map<string, number>()
      const factsOf = ({ connection: { id } }: { readonly connection: { readonly id: string } }) => {
        asked.set(id, (asked.get(id) ?? 0) + 1)
        return unknownFacts
      }
      assert.strictEqual(simulated({ strategy, factsOf, requests: 200 }).served, 200)
      assert.deepStrictEqual([...asked.values()], [1, 1, 1])
    }
  })
})
