/**
 * A simulation of a model id: arrivals, decisions, calls, failures and cooldowns on a virtual clock, with the decision function,
 * strategies, breakers and cooldowns that real requests meet (issue "explain, replay, simulate"). The same input gives the same report.
 */
import type { ModelPrice } from "../../domain/Pricing.ts"
import type { ResilienceSettings } from "../../domain/Resilience.ts"
import type { ModelFacts } from "../../providers/ModelFacts.ts"
import { costNanoUsd } from "../../usage/Cost.ts"
import { nanoUsdPerUsd, noTokens, type TokenCounts } from "../../domain/Usage.ts"
import { callEnded, healed } from "../auto/SelfHealing.ts"
import type { Features } from "../engine/Candidate.ts"
import { decide, type Decided, type DecidePolicy } from "../engine/Decide.ts"
import { candidatesOf, keyOf } from "../engine/Snapshot.ts"
import { blankMemory } from "../engine/Strategy.ts"
import type { Resolution, Target } from "../ModelResolver.ts"
import * as PerformanceStats from "../stats/PerformanceStats.ts"
import type { Account } from "../../providers/Catalog.ts"
import { type Behaviour, behaviourOf, type Behaviours } from "./Behaviour.ts"
import { gapMs, percentile, streamsOf } from "./Chance.ts"
import { makeEventQueue } from "./EventQueue.ts"
import { fairnessOf, makeLag, sharesOf } from "./Fairness.ts"
import { makeHealth } from "./Health.ts"
import { servedOf } from "./Learning.ts"
import type { SimulationReport, TargetReport } from "./Report.ts"
import { type Answer, makeUpstreams } from "./Upstreams.ts"

export interface SimulationInput {
  readonly model: string
  readonly resolution: Resolution
  readonly requests: number
  readonly seed: number
  /** Mean arrivals per second; they come in groups of `burst`. */
  readonly ratePerSecond: number
  readonly burst: number
  readonly behaviours: Behaviours
  /** Tokens of every request. */
  readonly promptTokens: number
  readonly outputTokens: number
  readonly settings: ResilienceSettings
  readonly factsOf: (account: Account, model: string) => ModelFacts
  readonly price: (provider: string, model: string) => ModelPrice | null
  readonly policy: DecidePolicy
}

export interface Simulation {
  /** Lets up to `events` things happen; false when nothing is left to happen. */
  readonly run: (events: number) => boolean
  readonly report: () => SimulationReport
}

/** The virtual clock starts here, whatever the real one says: 2027-01-15T08:00:00Z. */
export const startMs = 1_800_000_000_000

interface Request {
  readonly arrivedMs: number
  readonly decided: Decided
  /** Place of the next target to be asked. */
  readonly next: number
}

type Happening =
  | { readonly _tag: "Arrival" }
  | {
      readonly _tag: "End"
      readonly request: Request
      readonly target: Target
      readonly answer: Answer
      readonly startedMs: number
      readonly probe: boolean
      readonly release: () => void
    }

const blankTally = () => ({
  served: 0,
  firstChoices: 0,
  calls: 0,
  errors: 0,
  rateLimited: 0,
  cooldowns: 0,
  breakerOpenings: 0,
  costNanoUsd: 0
})

const notesOf = ({ strategy }: Resolution): ReadonlyArray<string> => [
  "Upstreams, arrivals and token counts are simulated; every breaker, cooldown and memory starts fresh.",
  "Model lockouts, queues, retries of the same target, hedging, sessions and request timeouts are left out.",
  ...(strategy === "fusion" ? ["fusion asks its panel at once; here its targets are asked one after the other."] : []),
  ...(strategy === "quota-share" ? ["A quota share does not wait for short cooldowns here."] : [])
]

export const makeSimulation = (input: SimulationInput): Simulation => {
  const { burst, model, outputTokens, price, promptTokens, ratePerSecond, requests, resolution, seed } = input
  const [arrivals, luck, seeds] = streamsOf(seed, 3)
  if (arrivals === undefined || luck === undefined || seeds === undefined) throw new RangeError("no random streams")
  const behaviours = new Map<Target, Behaviour>(
    resolution.targets.map((target) => [target, behaviourOf(input.behaviours, target)])
  )
  const places = new Map<Target, number>(resolution.targets.map((target, index) => [target, index]))
  const upstreams = makeUpstreams((target) => behaviours.get(target) ?? behaviourOf(input.behaviours, target), luck)
  const health = makeHealth(input.settings)
  const stats = PerformanceStats.make()
  const rooms = {
    catalog: { factsOf: input.factsOf },
    health,
    breakers: health,
    stats,
    quotas: { of: ({ id }: { readonly id: string }, nowMs: number) => upstreams.quotas(id, nowMs) },
    price
  }
  const features: Features = {
    wire: "chat",
    stream: false,
    promptTokens,
    maxOutputTokens: outputTokens,
    hasTools: false,
    hasImages: false,
    wantsReasoning: false,
    wantsSchema: false,
    taskType: "default",
    specificity: 0,
    sessionKey: null
  }
  const tokens: TokenCounts = { ...noTokens, in: promptTokens, out: outputTokens }
  const shares = sharesOf(resolution.targets.map((_, index) => resolution.weights[index] ?? 1))
  const lag = makeLag(shares)
  const tallies = resolution.targets.map(() => ({ ...blankTally(), latencies: [] as Array<number> }))
  const learn = servedOf(resolution)
  const queue = makeEventQueue<Happening>()
  const latencies: Array<number> = []
  let memory = blankMemory
  let healing = healed
  let arrived = 0
  let served = 0
  let failed = 0
  let fallbacks = 0
  let lastMs = startMs
  queue.put(startMs, { _tag: "Arrival" })

  const tallyOf = (target: Target) => tallies[places.get(target) ?? -1]

  const ask = (request: Request, nowMs: number): void => {
    const { order } = request.decided
    for (let place = request.next; place < order.length; place += 1) {
      const target = order[place]
      if (target === undefined || health.unready(target, nowMs) !== null) continue
      const admission = health.admit(target, nowMs)
      if (admission === "refused") continue
      const answer = upstreams.call(target, nowMs)
      const tally = tallyOf(target)
      if (tally !== undefined) tally.calls += 1
      queue.put(nowMs + answer.latencyMs, {
        _tag: "End",
        request: { ...request, next: place + 1 },
        target,
        answer,
        startedMs: nowMs,
        probe: admission === "probe",
        release: stats.begin(target.account.connection.id, target.model)
      })
      return
    }
    failed += 1
  }

  const arrive = (nowMs: number): void => {
    const together = Math.min(burst, requests - arrived)
    for (let each = 0; each < together; each += 1) {
      arrived += 1
      const decided = decide({
        resolution,
        candidates: candidatesOf(rooms, resolution, nowMs),
        features,
        memory,
        healing,
        affinity: null,
        modeHeader: null,
        budgetHeader: null,
        ...input.policy,
        seed: seeds.below(2 ** 32),
        nowMs
      })
      memory = decided.memory ?? memory
      healing = decided.healing
      const [favourite] = decided.order
      const place = favourite === undefined ? undefined : places.get(favourite)
      const tally = place === undefined ? undefined : tallies[place]
      if (place !== undefined && tally !== undefined) {
        lag.choose(place)
        tally.firstChoices += 1
      }
      ask({ arrivedMs: nowMs, decided, next: 0 }, nowMs)
    }
    if (arrived < requests) queue.put(nowMs + gapMs(arrivals, ratePerSecond / burst), { _tag: "Arrival" })
  }

  const end = (ended: Extract<Happening, { readonly _tag: "End" }>, nowMs: number): void => {
    const { answer, probe, request, startedMs, target } = ended
    const { connection, spec } = target.account
    const tally = tallyOf(target)
    ended.release()
    const change = health.ended({ target, startedMs, endedMs: nowMs, probe }, answer.failure)
    stats.record({
      provider: spec.id,
      connectionId: connection.id,
      model: target.model,
      ok: answer.failure === null,
      latencyMs: answer.latencyMs,
      ttftMs: null,
      outputTokens: answer.failure === null ? outputTokens : null,
      atMs: nowMs
    })
    healing = callEnded(healing, keyOf(target), answer.failure === null, nowMs)
    if (tally === undefined) return
    if (change.cooled) tally.cooldowns += 1
    if (change.opened) tally.breakerOpenings += 1
    if (answer.failure !== null) {
      if (answer.failure.status === 429) tally.rateLimited += 1
      else tally.errors += 1
      return ask(request, nowMs)
    }
    served += 1
    tally.served += 1
    tally.latencies.push(answer.latencyMs)
    latencies.push(nowMs - request.arrivedMs)
    if (target !== request.decided.order[0]) fallbacks += 1
    const known = price(spec.id, target.model)
    if (known !== null) tally.costNanoUsd += costNanoUsd(tokens, known)
    if (learn === undefined || request.decided.detour !== null) return
    const weights = [resolution.weights[places.get(target) ?? -1] ?? 1]
    const [candidate] = candidatesOf(rooms, { ...resolution, targets: [target], weights }, nowMs)
    if (candidate !== undefined) memory = learn(memory, candidate, resolution.config)
  }

  const run = (events: number): boolean => {
    for (let each = 0; each < events; each += 1) {
      const next = queue.take()
      if (next === null) return false
      lastMs = next.atMs
      if (next.event._tag === "Arrival") arrive(next.atMs)
      else end(next.event, next.atMs)
    }
    return true
  }

  const targetReport = (target: Target, index: number): TargetReport => {
    const { costNanoUsd: cost, latencies: own, ...counts } = tallies[index] ?? { ...blankTally(), latencies: [] }
    const ascending = own.toSorted((a, b) => a - b)
    return {
      provider: target.account.spec.id,
      connectionId: target.account.connection.id,
      model: target.model,
      weightShare: shares[index] ?? 0,
      share: served === 0 ? 0 : counts.served / served,
      ...counts,
      p50Ms: percentile(ascending, 0.5),
      p95Ms: percentile(ascending, 0.95),
      costUsd: cost / nanoUsdPerUsd,
      priced: price(target.account.spec.id, target.model) !== null
    }
  }

  const report = (): SimulationReport => {
    const ascending = latencies.toSorted((a, b) => a - b)
    return {
      model,
      combo: resolution.combo?.name ?? null,
      strategy: resolution.strategy,
      seed,
      requests: arrived,
      served,
      failed,
      fallbacks,
      calls: tallies.reduce((sum, { calls }) => sum + calls, 0),
      durationMs: lastMs - startMs,
      p50Ms: percentile(ascending, 0.5),
      p95Ms: percentile(ascending, 0.95),
      costUsd: tallies.reduce((sum, { costNanoUsd: cost }) => sum + cost, 0) / nanoUsdPerUsd,
      fairness: fairnessOf(
        tallies.map((tally) => tally.served),
        shares,
        lag.most()
      ),
      targets: resolution.targets.map(targetReport),
      notes: notesOf(resolution)
    }
  }
  return { run, report }
}
