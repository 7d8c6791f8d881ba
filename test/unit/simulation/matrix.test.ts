/**
 * Every strategy under every fault of the fault tests, and under faults that come and go or concern several targets: who is served, and
 * how failed targets are treated. The expectations are written by hand from docs/resilience.md and checked against every call.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { ComboStrategy } from "../../../src/subjects/combos/entity.ts"
import { defaultResilience, type ResilienceSettings } from "../../../src/subjects/resilience/entity.ts"
import {
  type CombinedScenario,
  FaultName,
  type ScenarioName,
  ScenarioName as scenarioNames
} from "../../../src/contract/domain/SimulatedFaults.ts"
import type { Decided } from "../../../src/plane/routing/decide/Decide.ts"
import type { Target } from "../../../src/plane/routing/resolve/ModelResolver.ts"
import type { SimulationReport } from "../../../src/observe/simulation/Report.ts"
import type { SeenCall } from "../../../src/observe/simulation/Simulation.ts"
import { counted, isSlowRun } from "../../support/slowRun.ts"
import { resolutionOf, simulated, simulationOf } from "./support.ts"

const requests = 120
const strategies = [...ComboStrategy.literals, "quota-share"]
const names = ["one", "two", "three"]

/** A plain run takes a third of the strategies under each fault, in turn; a slow one takes all and prints the table. */
const strategiesUnder = (fault: number): ReadonlyArray<string> =>
  counted(
    strategies.filter((_, index) => index % 3 === fault % 3),
    strategies
  )

/** Short, so that silence is over while others still arrive. */
const settings: ResilienceSettings = {
  ...defaultResilience,
  timeouts: { connectMs: 1_000, firstByteMs: 4_000, idleMs: 4_000, totalMs: 60_000 }
}

interface Cell {
  readonly report: SimulationReport
  readonly calls: ReadonlyArray<SeenCall>
  readonly decisions: ReadonlyArray<readonly [decided: Decided, nowMs: number]>
  readonly targets: ReadonlyArray<Target>
}

const cellOf = (strategy: string, scenario: ScenarioName): Cell => {
  const calls: Array<SeenCall> = []
  const decisions: Array<readonly [Decided, number]> = []
  const resolution = resolutionOf(strategy, [1, 1, 1])
  const simulation = simulationOf({
    resolution,
    scenario,
    settings,
    requests,
    ratePerSecond: 5,
    // The price is no reason to leave the faulty one alone.
    price: () => ({ input: 1, output: 1 }),
    behaviours: scenario === "slow-first" ? {} : { latency: { "*": [500, 1_000] } },
    watch: {
      decided: (_, decided, nowMs) => void decisions.push([decided, nowMs]),
      called: (call) => void calls.push(call)
    }
  })
  while (simulation.run(1_000));
  return { report: simulation.report(), calls, decisions, targets: resolution.targets }
}

/** How long the account (or its model) is left alone after the failure. */
type Rest =
  /** It is not to blame. */
  | "none"
  /** 3 s, doubled with each further failure, up to 32 times as long. */
  | "backoff"
  /** Until an operator acts. */
  | "for good"
  /** At least so long, ms. */
  | number

interface Expectation {
  /** Others answer in its place; `broken`: only before content, and this fault comes after. */
  readonly becomes: "answer" | "failover" | "broken"
  readonly rest: Rest
  /** Every such failure counts for the breaker. */
  readonly trips?: true
}

const harmless: Expectation = { becomes: "answer", rest: "none" }
const provider: Expectation = { becomes: "failover", rest: "backoff", trips: true }
const brokenProvider: Expectation = { becomes: "broken", rest: "backoff", trips: true }
const request: Expectation = { becomes: "failover", rest: "none" }
const resting = (rest: Rest): Expectation => ({ becomes: "failover", rest })
const hour = 3_600_000

const expectations: Readonly<Record<FaultName, Expectation>> = {
  "connection-refused": provider,
  "dns-failure": provider,
  "tls-failure": provider,
  "reset-before-headers": provider,
  "connect-timeout": provider,
  "no-response": provider,
  "headers-then-silence": provider,
  "half-then-silence": brokenProvider,
  "slow-drip": harmless,
  "429": resting("backoff"),
  "429-retry-after-seconds": resting(7_000),
  "429-retry-after-date": resting(39_000),
  "429-retry-after-far": resting(3_000),
  "429-clock-skew": resting(38_000),
  "429-quota": resting(hour),
  // The clock starts at eight in the morning.
  "429-daily-quota": resting(15 * hour),
  "429-model-quota": resting(hour),
  "401-refreshable": { becomes: "answer", rest: "none" },
  "401-refresh-in-vain": resting("for good"),
  "401-dead": resting("for good"),
  "402": resting("for good"),
  "403-banned": resting("for good"),
  "403": resting("backoff"),
  "404-model": request,
  "404-no-access": request,
  "400-context-overflow": request,
  "400": request,
  "400-content-refused": request,
  "413": request,
  "500": provider,
  "502": provider,
  "503": provider,
  "503-retry-after": { ...resting(30_000), trips: true },
  "504": provider,
  "529": resting("backoff"),
  "502-html": provider,
  "200-html": provider,
  "200-error-body": provider,
  "200-empty-answer": request,
  "error-event-first": provider,
  "error-event-midway": brokenProvider,
  "cut-mid-text": brokenProvider,
  "cut-mid-tool-call": brokenProvider,
  "cut-mid-letter": brokenProvider,
  "no-finish-reason": brokenProvider,
  // Some servers never say why: the end mark is an end.
  "end-without-finish-reason": harmless,
  "terminator-twice": harmless,
  "content-type-plain": harmless,
  "gzip-garbage": provider,
  "100-megabytes": request,
  "usage-missing": harmless
}

const failuresOf = (calls: ReadonlyArray<SeenCall>): ReadonlyArray<SeenCall> =>
  calls.filter(({ failure }) => failure !== null).toSorted((a, b) => a.endedMs - b.endedMs)

const callsTo = ({ calls }: Cell, target: Target | undefined) => calls.filter((call) => call.target === target)

/** Until when each failure keeps it out, by a reckoning of its own. */
const restsOf = (failures: ReadonlyArray<SeenCall>, rest: Rest): ReadonlyArray<readonly [number, number]> => {
  let level = 0
  let countedMs = Number.NEGATIVE_INFINITY
  return failures.flatMap(({ endedMs, startedMs }) => {
    if (rest === "none") return []
    if (rest === "for good") return [[endedMs, Number.POSITIVE_INFINITY] as const]
    if (rest !== "backoff") return [[endedMs, endedMs + rest] as const]
    // It ran beside the failure that counted.
    if (startedMs <= countedMs) return []
    const untilMs = endedMs + 3_000 * 2 ** Math.min(level, 5)
    level += 1
    countedMs = endedMs
    return [[endedMs, untilMs] as const]
  })
}

/** The breaker of an API-key provider, by its default settings alone: 12 failures, 30 s. */
const openingsOf = (calls: ReadonlyArray<SeenCall>): number => {
  let failures = 0
  let openedMs = Number.NEGATIVE_INFINITY
  let openings = 0
  for (const { endedMs, failure } of calls.toSorted((a, b) => a.endedMs - b.endedMs)) {
    if (endedMs < openedMs + 30_000) continue
    failures = failure === null ? Math.max(0, failures - 1) : failures + 1
    if (failures < 12) continue
    openings += 1
    openedMs = endedMs
    failures = 0
  }
  return openings
}

/** What holds whatever goes wrong. */
const checkBooks = (cell: Cell, where: string): void => {
  const { calls, decisions, report, targets } = cell
  assert.strictEqual(report.served + report.failed, requests, where)
  assert.strictEqual(decisions.length, requests, where)
  assert.strictEqual(calls.length, report.calls, where)
  for (const target of report.targets) {
    assert.strictEqual(target.calls, target.served + target.errors + target.rateLimited, where)
  }
  for (const [{ exclusions, order }] of decisions) {
    assert.strictEqual(new Set(order).size, order.length, `${where}: somebody stands twice in the order`)
    assert.isTrue(
      order.every((target) => targets.includes(target)),
      where
    )
    const usable = order.filter((target) => !exclusions.has(target))
    if (usable.length > 0)
      assert.deepStrictEqual(order.slice(0, usable.length), usable, `${where}: the excluded are last`)
    assert.isTrue(
      targets.every((target) => order.includes(target) || exclusions.has(target)),
      `${where}: neither asked nor excluded`
    )
  }
  const asked = new Map<string, number>()
  for (const { failure, request: number, target } of calls) {
    assert.isTrue(decisions[number]![0].order.includes(target), `${where}: asked outside of its order`)
    const id = `${number} ${target.account.connection.id}`
    // A new token is a reason to ask again, once.
    if (failure?.kind !== "auth_refreshable") asked.set(id, (asked.get(id) ?? 0) + 1)
  }
  // A quota share waits for a short cooldown, twice at the most, and calls again.
  const most = report.strategy === "quota-share" && report.failed > report.broken ? 3 : 1
  for (const [id, count] of asked) assert.isAtMost(count, most, `${where}: ${id} was asked ${count} times`)
}

/** One of three has the fault, the others are well. */
const checkLaw = (cell: Cell, fault: FaultName, where: string): void => {
  const { becomes, rest, trips } = expectations[fault]
  const { report, targets } = cell
  const own = callsTo(cell, targets[0])
  const [faulty] = report.targets
  const failures = failuresOf(own)
  for (const call of failuresOf(cell.calls))
    assert.strictEqual(call.target, targets[0], `${where}: a healthy one failed`)
  if (becomes === "broken")
    assert.deepStrictEqual([report.failed, report.broken], [failures.length, failures.length], where)
  else assert.deepStrictEqual([report.served, report.failed], [requests, 0], where)
  if (fault === "401-refreshable") {
    const renewals = failures.filter(({ failure }) => failure?.kind === "auth_refreshable")
    assert.strictEqual(renewals.length, failures.length, where)
  } else assert.strictEqual(failures.length, becomes === "answer" ? 0 : own.length, where)
  for (const [fromMs, untilMs] of restsOf(failures, rest)) {
    for (const { startedMs } of own) {
      assert.isFalse(
        startedMs > fromMs && startedMs < untilMs,
        `${where}: asked ${startedMs - fromMs} ms after its failure`
      )
    }
  }
  assert.strictEqual(faulty!.breakerOpenings, trips === undefined ? 0 : openingsOf(own), `${where}: openings`)
  if (rest === "none") {
    assert.deepStrictEqual([faulty!.cooldowns, faulty!.left], [0, null], `${where}: punished`)
    if (becomes === "failover") assert.strictEqual(own.length, faulty!.firstChoices, `${where}: asked once when chosen`)
  } else if (own.length > 0 && rest !== "backoff" && !(typeof rest === "number" && rest < 40_000)) {
    assert.isNotNull(faulty!.left, `${where}: it is still out at the end`)
  }
  for (const target of report.targets.slice(1)) assert.strictEqual(target.left, null, `${where}: a healthy one is out`)
}

const usableOf = ({ exclusions, order }: Decided): string =>
  order
    .flatMap((target) => (exclusions.has(target) ? [] : [target.account.connection.id]))
    .toSorted()
    .join()

/** How far apart the turns of two may be, while the same ones are usable. A deck or a credit may be new when one drops out. */
const fair: Readonly<Record<string, number>> = { "round-robin": 1, random: 2, "quota-share": 2 }

const checkFairness = (cell: Cell, most: number, where: string): void => {
  let among = ""
  let turns = new Map<string, number>()
  for (const [decided] of cell.decisions) {
    const usable = usableOf(decided)
    if (usable !== among) {
      among = usable
      turns = new Map(usable.split(",").map((name) => [name, 0]))
    }
    const first = decided.order[0]?.account.connection.id ?? ""
    if (!turns.has(first)) continue
    turns.set(first, (turns.get(first) ?? 0) + 1)
    const counts = [...turns.values()]
    assert.isAtMost(Math.max(...counts) - Math.min(...counts), most, `${where}: ${first} among ${usable}`)
  }
}
/** What must come of the combined ones: part of the requests that are served at least, and at most. */
const parts: Readonly<Record<CombinedScenario, readonly [from: number, to: number]>> = {
  healthy: [1, 1],
  "slow-first": [1, 1],
  "errors-everywhere": [0.3, 1],
  "first-down-a-while": [1, 1],
  "first-flapping": [1, 1],
  "first-limited": [1, 1],
  "first-unreliable": [1, 1],
  "first-cuts-some": [0.75, 1],
  "dies-midway": [1, 1],
  "two-in-trouble": [1, 1],
  "all-but-last-down": [1, 1],
  // Three times 12 of the 50 that arrive in ten seconds.
  "all-limited": [0.5, 0.95],
  "all-rate-limited": [0, 0],
  "all-exhausted": [0, 0],
  "all-down": [0, 0],
  "all-refuse-the-request": [0, 0]
}

const checkCombined = (cell: Cell, scenario: CombinedScenario, where: string): void => {
  const { calls, report, targets } = cell
  const [from, to] = parts[scenario]
  assert.isAtLeast(report.served, from * requests, where)
  assert.isAtMost(report.served, to * requests, where)
  const restOf: Partial<Record<CombinedScenario, Rest>> = {
    "all-exhausted": 15 * hour,
    "all-rate-limited": 7_000,
    "dies-midway": "for good"
  }
  const rest = restOf[scenario]
  for (const target of rest === undefined ? [] : targets) {
    const own = callsTo(cell, target)
    for (const [fromMs, untilMs] of restsOf(failuresOf(own), rest!)) {
      assert.isFalse(
        own.some(({ startedMs }) => startedMs > fromMs && startedMs < untilMs),
        `${where}: asked while it rests`
      )
    }
  }
  if (scenario === "all-down") {
    // The cooldown of an API key after its first failure; later ones are longer.
    const shortestRestMs = 3_000
    // A target that only cools down is called when no other is left, one request at a time.
    for (const target of targets) {
      const own = callsTo(cell, target).toSorted((a, b) => a.startedMs - b.startedMs)
      const failures = failuresOf(own)
      const resting = own.filter(({ startedMs }) =>
        failures.some(({ endedMs }) => startedMs > endedMs && startedMs < endedMs + shortestRestMs)
      )
      assert.isTrue(
        resting.every(({ startedMs }, index) => index === 0 || startedMs >= resting[index - 1]!.endedMs),
        `${where}: two at a time`
      )
    }
  }
  if (scenario !== "all-refuse-the-request") return
  // Each is called once, in order, and none is penalised.
  assert.strictEqual(calls.length, 3 * requests, where)
  for (const { breakerOpenings, cooldowns, left } of report.targets) {
    assert.deepStrictEqual([breakerOpenings, cooldowns, left], [0, 0, null], where)
  }
}

const percent = ({ report }: Cell): string => String(Math.round((report.served / requests) * 1_000) / 10)

const isFault = (name: ScenarioName): name is FaultName => FaultName.literals.some((fault) => fault === name)

describe("every strategy under every fault", () => {
  const lines: Array<string> = []

  for (const [index, scenario] of scenarioNames.literals.entries()) {
    it(`treats every target as expected: ${scenario}`, () => {
      const cells = strategiesUnder(index).map((strategy) => {
        const where = `${strategy}, ${scenario}`
        const cell = cellOf(strategy, scenario)
        checkBooks(cell, where)
        if (isFault(scenario)) checkLaw(cell, scenario, where)
        else checkCombined(cell, scenario, where)
        // A quota share spares members with little quota left.
        if (!(strategy === "quota-share" && scenario.endsWith("-limited"))) {
          checkFairness(cell, fair[strategy] ?? requests, where)
        }
        return cell
      })
      const asked = cells.map((cell) => callsTo(cell, cell.targets[0]).length)
      const range = `${Math.min(...asked)}-${Math.max(...asked)}`
      lines.push(
        `${scenario.padEnd(25)}${cells.map((cell) => percent(cell).padStart(6)).join("")}${range.padStart(10)}`
      )
    })
  }

  afterAll(() => {
    if (!isSlowRun) return
    const legend = strategies.map((strategy, index) => `${index + 1} ${strategy}`)
    const header = `${"".padEnd(25)}${strategies.map((_, index) => String(index + 1).padStart(6)).join("")}`
    const title = `Served of ${requests} in %, and how often ${names[0]} of ${names.join(", ")} was asked`
    process.stdout.write(`${title}\n${legend.join(", ")}\n${header}${"asked".padStart(10)}\n${lines.join("\n")}\n`)
  })

  it("says the same again for the same seed", () => {
    for (const scenario of ["errors-everywhere", "first-cuts-some", "first-flapping"] as const) {
      const [once, again] = [cellOf("auto", scenario), cellOf("auto", scenario)]
      assert.deepStrictEqual(again.report, once.report)
    }
  })
})

describe("one request after the other", () => {
  const gone = FaultName.literals.filter((name) => {
    const { rest } = expectations[name]
    return rest === "for good" || (typeof rest === "number" && rest >= hour)
  })

  it(`an account that is out is asked once, by every strategy: ${gone.join(", ")}`, () => {
    for (const fault of gone) {
      for (const strategy of strategies) {
        const [faulty] = simulated({
          resolution: resolutionOf(strategy, [1, 1, 1]),
          scenario: fault,
          requests: 40,
          ratePerSecond: 0.05,
          price: () => ({ input: 1, output: 1 })
        }).targets
        assert.isAtMost(faulty!.calls, 1, `${strategy}, ${fault}`)
        // Every target that had its turn was called.
        if (strategy === "round-robin" || strategy === "priority") assert.strictEqual(faulty!.calls, 1, fault)
      }
    }
  })

  it("an open breaker lets one probe through each time, and waits twice as long after each that failed", () => {
    const base = { baseCooldownMs: 100, maxBackoffSteps: 0, useUpstreamRetryHints: true }
    for (const strategy of strategies) {
      const calls: Array<SeenCall> = []
      const resolution = resolutionOf(strategy, [1, 1, 1])
      const run = simulationOf({
        resolution,
        scenario: "connection-refused",
        requests: 1_500,
        ratePerSecond: 2,
        price: () => ({ input: 1, output: 1 }),
        settings: { ...settings, connectionCooldown: { oauth: base, apikey: base } },
        watch: { decided: () => {}, called: (call) => void calls.push(call) }
      })
      while (run.run(1_000));
      const own = calls.filter(({ target }) => target === resolution.targets[0])
      const probes = own.filter(({ probe }) => probe)
      const before = own.filter(({ probe }) => !probe)
      assert.strictEqual(run.report().failed, 0, strategy)
      // It was not asked often enough to open where something measured is what counts.
      if (before.length < 12) {
        assert.isEmpty(probes, strategy)
        continue
      }
      assert.strictEqual(before.length, 12, strategy)
      const times = [before.at(-1)!, ...probes].map(({ endedMs }) => endedMs)
      const waits = probes.map(({ startedMs }, index) => startedMs - times[index]!)
      for (const [index, waitMs] of waits.entries()) {
        assert.isAtLeast(waitMs, 30_000 * Math.min(2 ** index, 4), `${strategy}: probe ${index}`)
      }
      if (strategy === "priority") assert.isAtLeast(probes.length, 4)
    }
  })
})
