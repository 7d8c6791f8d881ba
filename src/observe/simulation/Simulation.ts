/**
 * A simulation of a model id: arrivals, decisions, calls, faults and what they do to health, on a virtual clock, with the decision
 * function, strategies, classifier, breakers, cooldowns and policies that real requests meet. The same
 * input gives the same report.
 */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { ResilienceSettings } from "../../subjects/resilience/entity.ts"
import type { ScenarioName } from "../../domain/SimulatedFaults.ts"
import { noTokens } from "../../domain/Usage.ts"
import type { Account } from "../../plane/providers/Catalog.ts"
import type { ModelFacts } from "../../plane/providers/ModelFacts.ts"
import type { Failure } from "../../plane/resilience/failure/FailureKind.ts"
import type { Decided, DecidePolicy } from "../../plane/routing/decide/Decide.ts"
import { candidatesOf, countedFor } from "../../plane/routing/decide/Candidates.ts"
import type { Resolution, Target } from "../../plane/routing/resolve/ModelResolver.ts"
import * as PerformanceStats from "../../plane/routing/stats/PerformanceStats.ts"
import { routePolicy } from "../../plane/routing/walk/RoutePolicy.ts"
import type { Step, WalkWorld } from "../../plane/routing/walk/Steps.ts"
import { Walk } from "../../plane/routing/walk/Walk.ts"
import { type Behaviour, behaviourOf, type Behaviours, noBehaviours } from "./Behaviour.ts"
import { gapMs, streamsOf } from "./Distributions.ts"
import { makeDecider, noSession, plainFeatures, type SessionTurn } from "./Decider.ts"
import { makeEventQueue } from "./EventQueue.ts"
import { behavioursIn, scenarioOf } from "./Scenarios.ts"
import { simulatedHealth } from "./Health.ts"
import { makeSimulatedQueues, type Release, type Waiting } from "./SimulatedQueues.ts"
import type { SimulationReport } from "./Report.ts"
import { makeCounters } from "./Counters.ts"
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
  /** Scenario of faults beside `behaviours`, which come first; null: none. */
  readonly scenario: ScenarioName | null
  /** Null: as the scenario has it; without one they are not. */
  readonly streamed: boolean | null
  /** Sessions that the requests are of, in turn; null or absent: each stands alone. */
  readonly sessions?: SimulatedSessions | null
  /** Tokens of every request. */
  readonly promptTokens: number
  readonly outputTokens: number
  readonly settings: ResilienceSettings
  readonly factsOf: (account: Account, model: string) => ModelFacts
  readonly price: (provider: string, model: string) => ModelPrice | null
  readonly policy: DecidePolicy
  /** Sees everything as it happens. */
  readonly watch?: Watch
}

export interface SimulatedSessions {
  readonly count: number
  /** Requests of a session from one prompt of its user to the next: the prompt itself, then rounds of tools. */
  readonly turnsPerPrompt: number
}

/** A call that is over. Times are epoch milliseconds, requests are counted from 0. */
export interface SeenCall {
  readonly request: number
  readonly target: Target
  readonly startedMs: number
  readonly endedMs: number
  readonly retries: number
  readonly probe: boolean
  readonly failure: Failure | null
}

export interface Watch {
  readonly decided: (request: number, decided: Decided, nowMs: number) => void
  readonly called: (call: SeenCall) => void
}

export interface Simulation {
  /** Lets up to `events` things happen; false when nothing is left to happen. */
  readonly run: (events: number) => boolean
  readonly report: () => SimulationReport
}

/** The virtual clock starts here, whatever the real one says: 2027-01-15T08:00:00Z. */
export const startMs = 1_800_000_000_000

type SimulatedStep = Step<Release, Waiting>
type Ask = Extract<SimulatedStep, { readonly _tag: "Ask" }>

interface Request {
  readonly number: number
  readonly arrivedMs: number
  readonly decided: Decided
  /** The first in the order that could be asked when it arrived. */
  readonly favourite: Target | undefined
  readonly walk: Walk<Release, Waiting>
  readonly sessionKey: string | null
  /** Calls in progress: two while it is hedged. */
  readonly calls: Set<RunningCalls>
}

interface RunningCalls {
  readonly ask: Ask
  readonly answer: Answer
  readonly startedMs: number
  /** Removes it from the calls that its target has in progress. */
  readonly uncount: () => void
}

type Happening =
  | { readonly _tag: "Arrival" }
  | { readonly _tag: "GoOn"; readonly request: Request; readonly next: () => SimulatedStep | null }
  | { readonly _tag: "HedgeDue"; readonly request: Request; readonly call: RunningCalls }
  | { readonly _tag: "End"; readonly request: Request; readonly call: RunningCalls }

const nothing = (): void => {}

const turnOf = ({ sessions }: SimulationInput, number: number): SessionTurn =>
  sessions === undefined || sessions === null
    ? noSession
    : {
        sessionKey: String(number % sessions.count),
        startsPrompt: () => Math.floor(number / sessions.count) % sessions.turnsPerPrompt === 0
      }

const notesOf = ({ resolution: { strategy }, sessions }: SimulationInput): ReadonlyArray<string> => [
  "Upstreams, arrivals and token counts are simulated; every breaker, cooldown, lockout and memory starts fresh.",
  `Throttles, places per model of a combo, ${sessions === undefined || sessions === null ? "sessions, " : ""}mid-stream recovery and quotas learned from refusals are left out.`,
  ...(strategy === "fusion" ? ["fusion asks its panel at once; here its targets are asked one after the other."] : [])
]

export const makeSimulation = (input: SimulationInput): Simulation => {
  const { burst, model, outputTokens, promptTokens, ratePerSecond, requests, resolution, seed, settings, watch } = input
  const [arrivals, luck, seeds, mischief] = streamsOf(seed, 4)
  if (arrivals === undefined || luck === undefined || seeds === undefined || mischief === undefined) {
    throw new RangeError("no random streams")
  }
  const scenario = input.scenario === null ? null : scenarioOf(input.scenario)
  const streamed = input.streamed ?? scenario?.streamed ?? false
  const around = scenario === null ? noBehaviours : behavioursIn(scenario, resolution.targets)
  const behaviours = new Map<Target, Behaviour>()
  const behaviour = (target: Target): Behaviour => {
    const known = behaviours.get(target) ?? behaviourOf(input.behaviours, target, around)
    behaviours.set(target, known)
    return known
  }
  const { customBannedSignals: bannedTexts, timeouts } = settings
  const upstreams = makeUpstreams(behaviour, luck, mischief, { startMs, timeouts, bannedTexts })
  const health = simulatedHealth(settings, resolution.targets)
  const { queueDepth, waitTimeoutMs } = settings.connectionQueue
  const gates = makeSimulatedQueues()
  const stats = PerformanceStats.make()
  const sources = {
    catalog: { factsOf: input.factsOf },
    health,
    breakers: health,
    stats,
    quotas: { of: ({ id }: { readonly id: string }, nowMs: number) => upstreams.quotas(id, nowMs) },
    price: input.price
  }
  const policy = routePolicy(settings, resolution.policy)
  const cooldownWait = resolution.strategy === "quota-share" ? settings.comboCooldownWait : null
  const features = plainFeatures({ wire: "chat", stream: streamed, promptTokens, maxOutputTokens: outputTokens })
  const deciding = makeDecider(resolution, input.policy, seeds)
  const counters = makeCounters({
    resolution,
    price: input.price,
    tokens: { ...noTokens, in: promptTokens, out: outputTokens }
  })
  const queue = makeEventQueue<Happening>()
  let arrived = 0
  let clockMs = startMs
  queue.put(startMs, { _tag: "Arrival" })

  /** Makes the facts that the walk of a request asks for, at the moment of the clock. */
  const worldOf = (deadlineMs: number): WalkWorld<Release, Waiting> => ({
    nowMs: () => clockMs,
    leftMs: () => deadlineMs - clockMs,
    hasLeft: () => false,
    isStopping: () => false,
    unready: health.unready,
    admit: health.admit,
    place: ({ account: { connection } }) =>
      connection.maxConcurrent === null
        ? { _tag: "Free", release: nothing }
        : gates.enter(`connection ${connection.id}`, connection.maxConcurrent, policy.lines?.queueDepth ?? queueDepth),
    lastResort: (id) => gates.enter(`last resort ${id}`, 1, queueDepth),
    isLastResortFree: (id) => gates.isFree(`last resort ${id}`),
    release: (held) => held(),
    leftOut: nothing
  })

  const take = (request: Request, step: SimulatedStep): void => {
    switch (step._tag) {
      case "Ask":
        return call(request, step)
      case "Line":
        return standInLine(request, step)
      case "Pause":
        return queue.put(clockMs + step.ms, { _tag: "GoOn", request, next: () => request.walk.resumed(true) })
      case "Renew":
        return take(request, request.walk.renewed(renew(step.turn.target, step.failure) ? step.turn.target : null))
      case "Running":
        return
      case "End":
        return counters.failed(false)
    }
  }

  const call = (request: Request, ask: Ask): void => {
    const { target } = ask.turn
    const answer = upstreams.call(target, clockMs, {
      streamed,
      refreshed: request.walk.hasRefreshed(target),
      firstContentMs: Math.min(policy.targetTimeoutMs ?? timeouts.firstByteMs, timeouts.firstByteMs),
      leftMs: request.arrivedMs + timeouts.totalMs - clockMs
    })
    counters.called(target, ask.turn.retries > 0)
    const uncount = stats.begin(target.account.connection.id, target.model, countedFor(resolution))
    const underWay: RunningCalls = { ask, answer, startedMs: clockMs, uncount }
    request.calls.add(underWay)
    const { hedgeAfterMs } = ask
    if (hedgeAfterMs !== null && hedgeAfterMs < answer.latencyMs) {
      queue.put(clockMs + hedgeAfterMs, { _tag: "HedgeDue", request, call: underWay })
    }
    queue.put(clockMs + answer.latencyMs, { _tag: "End", request, call: underWay })
  }

  const standInLine = (request: Request, { limitMs, wait }: Extract<SimulatedStep, { _tag: "Line" }>): void => {
    let isOver = false
    const leave = wait((release) => {
      isOver = true
      queue.put(clockMs, { _tag: "GoOn", request, next: () => request.walk.placed(release) })
    })
    const giveUp = (): SimulatedStep | null => {
      if (isOver) return null
      leave?.()
      return request.walk.placed(null)
    }
    const ownLimitMs = policy.lines?.queueTimeoutMs ?? waitTimeoutMs
    const leftMs = request.arrivedMs + timeouts.totalMs - clockMs
    const ms = leave === null ? 0 : Math.min(limitMs ?? ownLimitMs, leftMs)
    queue.put(clockMs + ms, { _tag: "GoOn", request, next: giveUp })
  }

  const arrive = (nowMs: number): void => {
    const together = Math.min(burst, requests - arrived)
    for (let each = 0; each < together; each += 1) {
      const number = arrived
      arrived += 1
      counters.arrived()
      const turn = turnOf(input, number)
      const decided = deciding.decide(() => candidatesOf(sources, resolution, nowMs), features, nowMs, turn)
      deciding.commit(decided)
      watch?.decided(number, decided, nowMs)
      const favourite = decided.order.find((target) => health.unready(target, nowMs) === null) ?? decided.order[0]
      counters.chosenFirst(favourite)
      const deadlineMs = nowMs + timeouts.totalMs
      const { order, reason } = decided
      const walk = new Walk({ order, reason, policy, waitTimeoutMs, cooldownWait }, worldOf(deadlineMs))
      const { sessionKey } = turn
      take({ number, arrivedMs: nowMs, decided, favourite, walk, sessionKey, calls: new Set() }, walk.begin())
    }
    if (arrived < requests) queue.put(nowMs + gapMs(arrivals, ratePerSecond / burst), { _tag: "Arrival" })
  }

  const measure = (target: Target, { failure, latencyMs }: Answer, nowMs: number): void => {
    const ok = failure === null ? true : PerformanceStats.countsAsError(failure) ? false : null
    deciding.ended(target, ok, nowMs)
    if (ok === null || !policy.measured) return
    stats.record({
      connectionId: target.account.connection.id,
      model: target.model,
      combo: countedFor(resolution),
      ok,
      latencyMs,
      ttftMs: null,
      outputTokens: ok ? outputTokens : null,
      atMs: nowMs
    })
  }

  /** A new access token, or an account whose login is over. */
  const renew = (target: Target, failure: Failure): boolean => {
    if (upstreams.renew(target, clockMs)) return true
    const lost = { ...failure, kind: "auth_expired", exhausts: "connection" } as const
    counters.changed(target, health.ended({ target, startedMs: clockMs, endedMs: clockMs, probe: false }, lost))
    return false
  }

  const letGo = (request: Request, underWay: RunningCalls): void => {
    request.calls.delete(underWay)
    underWay.uncount()
    underWay.ask.held()
    underWay.ask.heldLastResort?.()
  }

  /** Another target has answered: the other call is broken off. */
  const breakOff = (request: Request): void => {
    for (const loser of request.calls) {
      const { probe, turn } = loser.ask
      const { target } = turn
      health.abandoned({ target, startedMs: loser.startedMs, endedMs: clockMs, probe })
      letGo(request, loser)
    }
  }

  const end = (request: Request, ended: RunningCalls): void => {
    if (!request.calls.has(ended)) return
    const { answer, ask, startedMs } = ended
    const { probe, turn } = ask
    const { target } = turn
    const { number, walk } = request
    const failure = answer.failure === null ? null : walk.weigh(target, answer.failure)
    counters.changed(target, health.ended({ target, startedMs, endedMs: clockMs, probe }, failure))
    letGo(request, ended)
    measure(target, answer, clockMs)
    watch?.called({ request: number, target, startedMs, endedMs: clockMs, retries: turn.retries, probe, failure })
    if (failure !== null) {
      counters.callFailed(target, failure)
      // The client has its beginning: no other target can be asked for the rest.
      if (failure.contentBegan) {
        breakOff(request)
        return counters.failed(true)
      }
      return take(request, walk.failed(turn, failure))
    }
    breakOff(request)
    counters.served(target, answer.latencyMs, clockMs - request.arrivedMs, target !== request.favourite)
    deciding.served(request.decided, { target, sessionKey: request.sessionKey, nowMs: clockMs }, () => {
      const weights = [resolution.weights[resolution.targets.indexOf(target)] ?? 1]
      return candidatesOf(sources, { ...resolution, targets: [target], weights }, clockMs)[0]
    })
  }

  const happen = (event: Happening): void => {
    switch (event._tag) {
      case "Arrival":
        return arrive(clockMs)
      case "GoOn": {
        const step = event.next()
        return step === null ? undefined : take(event.request, step)
      }
      case "HedgeDue":
        return event.request.calls.has(event.call)
          ? take(event.request, event.request.walk.hedgeDue(event.call.ask.turn))
          : undefined
      case "End":
        return end(event.request, event.call)
    }
  }

  const run = (events: number): boolean => {
    for (let each = 0; each < events; each += 1) {
      const next = queue.take()
      if (next === null) return false
      clockMs = next.atMs
      happen(next.event)
    }
    return true
  }

  const report = (): SimulationReport => ({
    model,
    combo: resolution.combo?.name ?? null,
    strategy: resolution.strategy,
    scenario: input.scenario,
    streamed,
    seed,
    ...counters.totals(),
    durationMs: clockMs - startMs,
    fairness: counters.fairness(),
    targets: counters.targets(health, clockMs),
    notes: [...(scenario === null ? [] : [`In this scenario ${scenario.about}.`]), ...notesOf(input)]
  })
  return { run, report }
}
