/** The laws of the ledger, over any number of processes: what is done to them, and what holds after each step and at rest. */
import { assert } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { setImmediate as turn } from "node:timers/promises"
import { Cluster, type ClusterLimits, type KeyId, keyIds, type RowsSide } from "./Cluster.ts"

export type Step =
  | {
      readonly do: "ask"
      readonly place: number
      readonly model: string
      readonly amount: number
      readonly session: number
      readonly key: KeyId
    }
  | { readonly do: "settle"; readonly pick: number; readonly part: number }
  | { readonly do: "fail"; readonly pick: number }
  | { readonly do: "deliver"; readonly pick: number; readonly times: number }
  | { readonly do: "deliverAll" }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "rows"; readonly place: number }
  | { readonly do: "kill"; readonly place: number; readonly loses: boolean }
  | { readonly do: "restart" }
  | { readonly do: "stop"; readonly place: number }
  | { readonly do: "go"; readonly place: number }
  | { readonly do: "clock" }
  | { readonly do: "cut"; readonly place: number; readonly dies: boolean }

const place = FastCheck.integer({ min: 1, max: 4 })
const pick = FastCheck.nat(30)
const always = <A>(value: A) => FastCheck.constant(value)

export const calm: ReadonlyArray<FastCheck.WeightedArbitrary<Step>> = [
  {
    weight: 12,
    arbitrary: FastCheck.record({
      do: always("ask" as const),
      place,
      model: FastCheck.constantFrom("a", "b"),
      amount: FastCheck.integer({ min: 1, max: 120 }),
      session: FastCheck.nat(5),
      key: FastCheck.constantFrom(...keyIds)
    })
  },
  {
    weight: 6,
    arbitrary: FastCheck.record({
      do: always("settle" as const),
      pick,
      part: FastCheck.double({ min: 0, max: 1, noNaN: true })
    })
  },
  { weight: 2, arbitrary: FastCheck.record({ do: always("fail" as const), pick }) },
  {
    weight: 12,
    arbitrary: FastCheck.record({ do: always("deliver" as const), pick, times: FastCheck.integer({ min: 1, max: 6 }) })
  },
  { weight: 10, arbitrary: FastCheck.record({ do: always("deliverAll" as const) }) },
  {
    weight: 5,
    arbitrary: FastCheck.record({ do: always("advance" as const), ms: FastCheck.integer({ min: 1, max: 2_500 }) })
  },
  { weight: 2, arbitrary: FastCheck.record({ do: always("rows" as const), place }) },
  { weight: 1, arbitrary: FastCheck.record({ do: always("clock" as const) }) }
]
export const faults: ReadonlyArray<FastCheck.WeightedArbitrary<Step>> = [
  { weight: 2, arbitrary: FastCheck.record({ do: always("kill" as const), place, loses: FastCheck.boolean() }) },
  { weight: 1, arbitrary: FastCheck.record({ do: always("restart" as const) }) },
  { weight: 1, arbitrary: FastCheck.record({ do: always("stop" as const), place }) },
  { weight: 2, arbitrary: FastCheck.record({ do: always("go" as const), place }) }
]

export const limits: FastCheck.Arbitrary<ClusterLimits> = FastCheck.record({
  nanoUsd: FastCheck.integer({ min: 100, max: 9_000 }),
  tokensOfA: FastCheck.integer({ min: 100, max: 6_000 }),
  requests: FastCheck.integer({ min: 5, max: 200 }),
  rate: FastCheck.record({ limit: FastCheck.integer({ min: 2, max: 150 }), window: FastCheck.constantFrom(1, 10, 60) }),
  sessions: FastCheck.constantFrom(0, 0, 2, 4),
  teamNanoUsd: FastCheck.integer({ min: 100, max: 14_000 })
})

const run = (cluster: Cluster, step: Step): void => {
  switch (step.do) {
    case "ask":
      return void cluster.ask(step.place, step.model, step.amount, `s${step.session}`, step.key)
    case "settle":
      return cluster.settle(step.pick, step.part)
    case "fail":
      return cluster.fail(step.pick)
    case "deliver": {
      for (let each = 0; each < step.times; each += 1) cluster.deliver(step.pick + each)
      return
    }
    case "deliverAll":
      return cluster.deliverAll()
    case "advance":
      return cluster.advance(step.ms)
    case "rows":
      return cluster.moveRows(step.place)
    case "kill":
      return cluster.kill(step.place, step.loses)
    case "restart":
      return cluster.isAlone ? undefined : cluster.restart()
    case "stop":
      return void (cluster.workers.has(step.place) && cluster.stopped.add(step.place))
    case "go":
      return void cluster.stopped.delete(step.place)
    case "cut":
      // What a process has told arrives, and it does not hear of it.
      cluster.advance(250)
      cluster.deliverFrom(step.place)
      return step.dies ? cluster.kill(step.place, false) : cluster.restart()
    case "clock":
      // An hour back and, so that windows of the day stay the same, forward again.
      cluster.wallMs += cluster.wallMs % 2 === 0 ? -3_600_001 : 3_600_001
  }
}

/** What holds after every step. */
const holds = (cluster: Cluster): void => {
  const { limits: most } = cluster
  assert.isAtMost(cluster.committed(), most.teamNanoUsd ?? Number.POSITIVE_INFINITY, "the budget of the team")
  for (const key of keyIds) {
    assert.isAtMost(cluster.committed(undefined, key), most.nanoUsd, "the budget")
    assert.isAtMost(cluster.committed("a", key), most.tokensOfA, "the tokens of a model")
    assert.isAtMost(cluster.inWindow(key), most.rate.limit, "the rate")
    if (most.sessions > 0) assert.isAtMost(cluster.runningSessions(key), most.sessions, "sessions")
  }
}

const meterOf = (cluster: Cluster, key: KeyId, id: string) => cluster.standing(key, id)

/** What holds for a key when all requests are over and nothing is on its way. */
const holdsForKey = (cluster: Cluster, key: KeyId): void => {
  const money = meterOf(cluster, key, "usd")
  const tokens = meterOf(cluster, key, "tokens of a")
  const day = meterOf(cluster, key, "requests")
  assert.strictEqual(money.used, cluster.committed(undefined, key), "all is booked once")
  assert.strictEqual(tokens.used, cluster.committed("a", key), "all tokens are booked once")
  assert.strictEqual(money.reserved, 0, "no money is held")
  assert.strictEqual(tokens.reserved, 0, "no tokens are held")
  assert.strictEqual(day.reserved, 0, "no requests are held")
  if (cluster.kills + cluster.restarts === 0) {
    assert.strictEqual(day.used, cluster.enteredOf(key), "each request counts once")
    assert.isAtMost(cluster.enteredOf(key), cluster.limits.requests)
  }
  assert.strictEqual(cluster.heldSessions(key), 0, "no session is held")
  assert.strictEqual(cluster.heldRates(key), 0, "no requests of a rate are held")
}

/** What holds when all requests are over and nothing is on its way. */
const holdsAtRest = (cluster: Cluster): void => {
  cluster.quiet()
  for (const key of keyIds) holdsForKey(cluster, key)
  const team = meterOf(cluster, "key", "team/usd")
  assert.strictEqual(team.used, cluster.committed(), "all is booked once for the team")
  assert.strictEqual(team.reserved, 0, "no money of the team is held")
  // What is left can be had, by any worker and key, to the last unit.
  for (const key of keyIds) {
    cluster.advance(61_000)
    const money = meterOf(cluster, key, "usd")
    const day = meterOf(cluster, key, "requests")
    const ofTeam = meterOf(cluster, key, "team/usd")
    const left = Math.min(money.limit - money.used, ofTeam.limit - ofTeam.used)
    if (left <= 0 || day.used >= day.limit) continue
    const last = cluster.ask(1, "b", left, "last", key)
    cluster.quiet()
    assert.isNull(last?.refused ?? null, "what is left can be had")
    assert.strictEqual(meterOf(cluster, key, "usd").used, money.used + left)
    assert.strictEqual(meterOf(cluster, key, "team/usd").used, ofTeam.used + left)
    holds(cluster)
  }
}

/** Checks the laws over clusters of some sizes, whatever happens to them. */
export const check = (
  size: FastCheck.Arbitrary<number>,
  steps: FastCheck.Arbitrary<ReadonlyArray<Step>>,
  numRuns: number,
  rows: ((cluster: Cluster) => RowsSide) | null = null,
  all: FastCheck.Arbitrary<ClusterLimits> = limits
): Promise<void> =>
  FastCheck.assert(
    FastCheck.asyncProperty(all, size, steps, async (most, workers, history) => {
      const cluster = new Cluster(most, workers, rows)
      cluster.deliverAll()
      for (const step of history) {
        run(cluster, step)
        holds(cluster)
      }
      holdsAtRest(cluster)
      // The test runner is to hear of a long run.
      await turn()
    }),
    { numRuns }
  )

export const cut: FastCheck.WeightedArbitrary<Step> = {
  weight: 3,
  arbitrary: FastCheck.record({ do: always("cut" as const), place, dies: FastCheck.boolean() })
}

/** Time goes on for longer than leases last. */
export const long: FastCheck.WeightedArbitrary<Step> = {
  weight: 3,
  arbitrary: FastCheck.record({ do: always("advance" as const), ms: FastCheck.integer({ min: 20_000, max: 60_000 }) })
}

/** Runs steps over three processes with small limits, and lets them come to rest. */
export const history = (steps: ReadonlyArray<Step>, rows: (cluster: Cluster) => RowsSide): void => {
  const rate = { limit: 40, window: 10 }
  const most = { nanoUsd: 3_000, tokensOfA: 2_000, requests: 100, rate, sessions: 4, teamNanoUsd: 5_000 }
  const cluster = new Cluster(most, 3, rows)
  cluster.deliverAll()
  for (const step of steps) run(cluster, step)
  cluster.quiet()
}

export const listOf = (...steps: ReadonlyArray<FastCheck.WeightedArbitrary<Step>>) =>
  FastCheck.array(FastCheck.oneof(...steps), { maxLength: 150, size: "max" })
