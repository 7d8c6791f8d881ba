/**
 * Failover as a machine: whatever targets, health, places and failures there are, and in whatever order things end, a walk keeps its
 * promises. No clock is needed: time is a number that the test moves.
 */
import { assert, describe, it } from "@effect/vitest"
import { noneReady } from "../../../src/plane/routing/candidate/Reason.ts"
import { noPolicy } from "../../../src/subjects/combos/entity/ComboPolicy.ts"
import { defaultResilience } from "../../../src/subjects/resilience/entity.ts"
import { FaultName } from "../../../src/contract/domain/SimulatedFaults.ts"
import { makeSeededRandom, type SeededRandom } from "../../../src/kernel/SeededRandom.ts"
import type { Target } from "../../../src/plane/routing/resolve/ModelResolver.ts"
import { faults } from "../../../src/observe/simulation/faults/Catalogue.ts"
import { classifyFault } from "../../../src/observe/simulation/faults/ClassifyFault.ts"
import { simulatedHealth } from "../../../src/observe/simulation/Health.ts"
import { maxAttempts, routePolicy } from "../../../src/plane/routing/walk/RoutePolicy.ts"
import type { Place, Step, WalkEnd, WalkWorld } from "../../../src/plane/routing/walk/Steps.ts"
import { Walk } from "../../../src/plane/routing/walk/Walk.ts"
import { snapshot } from "../../../src/plane/providers/Catalog.ts"
import { targetOf } from "../../support/Candidates.ts"
import { connection } from "../../support/Records.ts"

const startMs = 1_800_000_000_000
const totalMs = defaultResilience.timeouts.totalMs

/** A place, known by its number. */
type Held = number
type Ask = Extract<Step<Held, null>, { _tag: "Ask" }>

const pick = <A>(random: SeededRandom, from: ReadonlyArray<A>): A => from[random.below(from.length)]!

const targetsOf = (random: SeededRandom): ReadonlyArray<Target> => {
  const providers = ["openai", "groq", "mistral"]
  const { accounts } = snapshot(
    ["a", "b", "c"].map((id, index) => connection({ id, provider: pick(random, providers), createdAtMs: index })),
    [],
    []
  )
  const all = accounts.flatMap((account) => ["m", "n"].map((model) => targetOf(account, model)))
  return all.slice(0, 1 + random.below(all.length))
}

/** What was seen of one walk. */
interface Seen {
  readonly asked: ReadonlyArray<Ask>
  readonly end: WalkEnd | "answered"
  readonly stillHeld: number
}

const play = (seed: number, never: (target: Target) => boolean = () => false): Seen => {
  const random = makeSeededRandom(seed)
  const order = targetsOf(random)
  const health = simulatedHealth(defaultResilience, order)
  const policy = routePolicy(defaultResilience, {
    ...noPolicy,
    maxRetries: random.below(3),
    retryDelayMs: pick(random, [0, 500]),
    failoverBeforeRetry: random.below(2) === 0,
    fallbackDelayMs: pick(random, [0, 200]),
    maxSetRetries: random.below(3),
    setRetryDelayMs: pick(random, [0, 4_000]),
    hedging: random.below(2) === 0,
    hedgeDelayMs: 100
  })
  const fails = random.below(100)
  let nowMs = startMs
  let hasLeft = false
  let lastPlace = 0
  const held = new Set<Held>()
  const take = (): Held => {
    held.add((lastPlace += 1))
    return lastPlace
  }
  const release = (place: Held): void => {
    assert.isTrue(held.delete(place), "a place is given back once")
  }
  const anyPlace = (): Place<Held, null> => {
    const luck = random.below(10)
    if (luck < 7) return { _tag: "Free", release: take() }
    return luck < 9 ? { _tag: "Wait", wait: null } : { _tag: "Full" }
  }
  const world: WalkWorld<Held, null> = {
    nowMs: () => nowMs,
    leftMs: () => startMs + totalMs - nowMs,
    hasLeft: () => hasLeft,
    isStopping: () => false,
    unready: (target, atMs) =>
      never(target) ? { ...health.unready(target, atMs), ...outForGood } : health.unready(target, atMs),
    admit: health.admit,
    place: anyPlace,
    lastResort: anyPlace,
    isLastResortFree: () => random.below(2) === 0,
    release,
    leftOut: () => {}
  }
  const walk = new Walk<Held, null>(
    {
      order,
      reason: noneReady,
      policy,
      waitTimeoutMs: 1_000,
      cooldownWait: random.below(3) === 0 ? defaultResilience.comboCooldownWait : null
    },
    world
  )
  const asked: Array<Ask> = []
  const underWay: Array<Ask> = []
  const over = (call: Ask): void => {
    release(call.permit)
    if (call.lastResortPermit !== null) release(call.lastResortPermit)
  }
  let step = walk.begin()
  for (;;) {
    if (random.below(200) === 0) hasLeft = true
    switch (step._tag) {
      case "End":
        for (const call of underWay) over(call)
        return { asked, end: step.end, stillHeld: held.size }
      case "Line":
        nowMs += random.below(500)
        step = walk.placed(random.below(3) === 0 ? null : take())
        continue
      case "Pause":
        nowMs += step.ms
        step = walk.resumed(random.below(20) > 0)
        continue
      case "Renew":
        step = walk.renewed(random.below(2) === 0 ? step.turn.target : null)
        continue
      case "Ask":
        asked.push(step)
        underWay.push(step)
        if (underWay.length === 1 && step.hedgeAfterMs !== null && random.below(2) === 0) {
          nowMs += step.hedgeAfterMs
          step = walk.hedgeDue(step.turn)
          continue
        }
    }
    // One of the calls under way ends.
    const [call] = underWay.splice(random.below(underWay.length), 1)
    assert.isDefined(call, "a walk that waits has a call under way")
    if (call === undefined) throw new Error("unreachable")
    const { target } = call.turn
    const startedMs = nowMs
    nowMs += random.below(2_000)
    const fault = random.below(100) < fails ? faults[pick(random, FaultName.literals)] : null
    const said = fault?.says?.(nowMs) ?? null
    const circumstances = {
      streamed: false,
      contentBegan: false,
      canRefresh: !walk.hasRefreshed(target),
      bannedTexts: []
    }
    const failure = said === null ? null : walk.weigh(target, classifyFault(said, target, { ...circumstances, nowMs }))
    health.ended({ target, startedMs, endedMs: nowMs, probe: call.probe }, failure)
    over(call)
    if (failure === null) {
      for (const other of underWay) over(other)
      return { asked, end: "answered", stillHeld: held.size }
    }
    step = walk.failed(call.turn, failure)
  }
}

const outForGood = {
  rule: "terminal",
  untilMs: null,
  terminal: "banned",
  kind: null,
  detail: "",
  status: 503,
  code: "ALL_ACCOUNTS_INACTIVE"
} as const

const runs = 3_000

describe("a walk over the targets", () => {
  it("ends, gives every place back once, and never calls too often", () => {
    let answered = 0
    for (let seed = 1; seed <= runs; seed += 1) {
      const { asked, end, stillHeld } = play(seed)
      assert.strictEqual(stillHeld, 0, `seed ${seed}`)
      assert.isAtMost(asked.length, maxAttempts)
      if (end === "answered") answered += 1
      else if (end._tag === "Failed") assert.isNotEmpty(asked)
    }
    // Walks that all end alike would prove little.
    assert.isTrue(answered > runs / 4 && answered < runs, `${answered} of ${runs}`)
  })

  it("never asks a target that is out for good", () => {
    for (let seed = 1; seed <= runs; seed += 1) {
      const isOut = ({ account }: Target): boolean => account.connection.id === "b"
      for (const { turn } of play(seed, isOut).asked) assert.isFalse(isOut(turn.target), `seed ${seed}`)
    }
  })

  it("repeats itself for a seed", () => {
    const told = ({ asked, end }: Seen) => [
      end === "answered" ? end : end._tag,
      ...asked.map(({ probe, turn }) => [turn.target.account.connection.id, turn.target.model, turn.retries, probe])
    ]
    for (let seed = 1; seed <= 200; seed += 1) assert.deepStrictEqual(told(play(seed)), told(play(seed)))
  })
})
