/**
 * A simulation of a model id: arrivals, decisions, calls, faults and what they do to health, on a virtual clock, with the decision
 * function, strategies, classifier, breakers, cooldowns and policies that real requests meet. The same
 * input gives the same report.
 */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { ResilienceSettings } from "../../subjects/resilience/entity.ts"
import type { ScenarioName } from "../../contract/domain/SimulatedFaults.ts"
import { noTokens } from "../../contract/domain/Usage.ts"
import type { Account } from "../../plane/providers/Catalog.ts"
import type { ModelFacts } from "../../plane/providers/ModelFacts.ts"
import type { Admission } from "../../plane/resilience/breaker/Breaker.ts"
import type { Failure } from "../../plane/resilience/failure/FailureKind.ts"
import type { Decided, DecidePolicy } from "../../plane/routing/decide/Decide.ts"
import { countedFor, makeCandidates } from "../../plane/routing/decide/Candidates.ts"
import type { Unready } from "../../plane/routing/health/Health.ts"
import type { Resolution, Target } from "../../plane/routing/resolve/ModelResolver.ts"
import * as PerformanceStats from "../../plane/routing/stats/PerformanceStats.ts"
import { routePolicy } from "../../plane/routing/walk/RoutePolicy.ts"
import type { Place, Step, WalkWorld } from "../../plane/routing/walk/Steps.ts"
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
  /** Requests that have arrived so far. */
  readonly arrived: () => number
}

/** The virtual clock starts here, whatever the real one says: 2027-01-15T08:00:00Z. */
export const startMs = 1_800_000_000_000

type SimulatedStep = Step<Release, Waiting>
type Ask = Extract<SimulatedStep, { readonly _tag: "Ask" }>

interface Request {
  readonly number: number
  readonly arrivedMs: number
  /** All that is kept of its decision: scores and exclusions of each request under way would outlive several collections. */
  readonly detour: Decided["detour"]
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

/** The parts of a simulation, fresh: what real requests meet, on simulated upstreams. */
const partsOf = (input: SimulationInput) => {
  const { outputTokens, promptTokens, resolution, seed, settings } = input
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
  // Made once: what is known of each target is kept from one decision to the next.
  const candidates = makeCandidates({
    catalog: { factsOf: input.factsOf },
    health,
    breakers: health,
    stats,
    quotas: { of: ({ id }: { readonly id: string }, nowMs: number) => upstreams.quotas(id, nowMs) },
    price: input.price,
    // A price is that of the beginning.
    priceEdition: () => 0
  })
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
  return {
    input,
    arrivals,
    scenario,
    streamed,
    timeouts,
    upstreams,
    health,
    queueDepth,
    waitTimeoutMs,
    gates,
    stats,
    candidates,
    policy,
    cooldownWait,
    features,
    deciding,
    counters,
    queue
  }
}

type Parts = ReturnType<typeof partsOf>

/** The clock of a simulation. Epoch milliseconds. */
interface SimulatedClock {
  nowMs: number
}

/** Facts that the walk of a request asks for, at the moment of the clock. One is made for each request, so that none has functions of its own. */
class SimulatedWorld implements WalkWorld<Release, Waiting> {
  readonly #parts: Parts
  readonly #clock: SimulatedClock
  readonly #deadlineMs: number

  constructor(parts: Parts, clock: SimulatedClock, deadlineMs: number) {
    this.#parts = parts
    this.#clock = clock
    this.#deadlineMs = deadlineMs
  }

  nowMs(): number {
    return this.#clock.nowMs
  }

  leftMs(): number {
    return this.#deadlineMs - this.#clock.nowMs
  }

  hasLeft(): boolean {
    return false
  }

  isStopping(): boolean {
    return false
  }

  unready(target: Target, nowMs: number): Unready | null {
    return this.#parts.health.unready(target, nowMs)
  }

  admit(target: Target, nowMs: number, lastResort?: boolean): Admission {
    return this.#parts.health.admit(target, nowMs, lastResort)
  }

  place({ account: { connection } }: Target): Place<Release, Waiting> {
    const { gates, policy, queueDepth } = this.#parts
    return connection.maxConcurrent === null
      ? { _tag: "Free", release: nothing }
      : gates.enter(`connection ${connection.id}`, connection.maxConcurrent, policy.lines?.queueDepth ?? queueDepth)
  }

  lastResort(id: string): Place<Release, Waiting> {
    return this.#parts.gates.enter(`last resort ${id}`, 1, this.#parts.queueDepth)
  }

  isLastResortFree(id: string): boolean {
    return this.#parts.gates.isFree(`last resort ${id}`)
  }

  release(permit: Release): void {
    permit()
  }

  leftOut(): void {}
}

class SimulatedTraffic implements Simulation {
  readonly #parts: Parts
  #arrived = 0
  /** Requests of the group that is arriving now, which are still to come. */
  #together = 0
  readonly #clock: SimulatedClock = { nowMs: startMs }
  readonly #alone = new Map<Target, Resolution>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#parts.queue.put(startMs, { _tag: "Arrival" })
  }

  #take(request: Request, step: SimulatedStep): void {
    switch (step._tag) {
      case "Ask":
        return this.#call(request, step)
      case "Line":
        return this.#standInLine(request, step)
      case "Pause":
        return this.#parts.queue.put(this.#clock.nowMs + step.ms, {
          _tag: "GoOn",
          request,
          next: () => request.walk.resumed(true)
        })
      case "Renew":
        return this.#take(
          request,
          request.walk.renewed(this.#renew(step.turn.target, step.failure) ? step.turn.target : null)
        )
      case "Running":
        return
      case "End":
        return this.#parts.counters.failed(false)
    }
  }

  #call(request: Request, ask: Ask): void {
    const { target } = ask.turn
    const answer = this.#parts.upstreams.call(target, this.#clock.nowMs, {
      streamed: this.#parts.streamed,
      refreshed: request.walk.hasRefreshed(target),
      firstContentMs: Math.min(
        this.#parts.policy.targetTimeoutMs ?? this.#parts.timeouts.firstByteMs,
        this.#parts.timeouts.firstByteMs
      ),
      leftMs: request.arrivedMs + this.#parts.timeouts.totalMs - this.#clock.nowMs
    })
    this.#parts.counters.called(target, ask.turn.retries > 0)
    const uncount = this.#parts.stats.begin(
      target.account.connection.id,
      target.model,
      countedFor(this.#parts.input.resolution)
    )
    const underWay: RunningCalls = { ask, answer, startedMs: this.#clock.nowMs, uncount }
    request.calls.add(underWay)
    const { hedgeAfterMs } = ask
    if (hedgeAfterMs !== null && hedgeAfterMs < answer.latencyMs) {
      this.#parts.queue.put(this.#clock.nowMs + hedgeAfterMs, { _tag: "HedgeDue", request, call: underWay })
    }
    this.#parts.queue.put(this.#clock.nowMs + answer.latencyMs, { _tag: "End", request, call: underWay })
  }

  #standInLine(request: Request, { limitMs, wait }: Extract<SimulatedStep, { _tag: "Line" }>): void {
    let isOver = false
    const leave = wait((release) => {
      isOver = true
      this.#parts.queue.put(this.#clock.nowMs, { _tag: "GoOn", request, next: () => request.walk.placed(release) })
    })
    const giveUp = (): SimulatedStep | null => {
      if (isOver) return null
      leave?.()
      return request.walk.placed(null)
    }
    const ownLimitMs = this.#parts.policy.lines?.queueTimeoutMs ?? this.#parts.waitTimeoutMs
    const leftMs = request.arrivedMs + this.#parts.timeouts.totalMs - this.#clock.nowMs
    const ms = leave === null ? 0 : Math.min(limitMs ?? ownLimitMs, leftMs)
    this.#parts.queue.put(this.#clock.nowMs + ms, { _tag: "GoOn", request, next: giveUp })
  }

  /** Lets one request of the group arrive; behind the last one the next group is on its way. */
  #arrive(nowMs: number): void {
    if (this.#together > 0) {
      this.#together -= 1
      const number = this.#arrived
      this.#arrived += 1
      this.#parts.counters.arrived()
      const turn = turnOf(this.#parts.input, number)
      const decided = this.#parts.deciding.decide(
        () => this.#parts.candidates.of(this.#parts.input.resolution, nowMs),
        this.#parts.features,
        nowMs,
        turn
      )
      this.#parts.deciding.commit(decided)
      this.#parts.input.watch?.decided(number, decided, nowMs)
      const favourite =
        decided.order.find((target) => this.#parts.health.unready(target, nowMs) === null) ?? decided.order[0]
      this.#parts.counters.chosenFirst(favourite)
      const deadlineMs = nowMs + this.#parts.timeouts.totalMs
      const { detour, order, reason } = decided
      const walk = new Walk(
        {
          order,
          reason,
          policy: this.#parts.policy,
          waitTimeoutMs: this.#parts.waitTimeoutMs,
          cooldownWait: this.#parts.cooldownWait
        },
        new SimulatedWorld(this.#parts, this.#clock, deadlineMs)
      )
      const { sessionKey } = turn
      this.#take({ number, arrivedMs: nowMs, detour, favourite, walk, sessionKey, calls: new Set() }, walk.begin())
    }
    if (this.#together === 0 && this.#arrived < this.#parts.input.requests)
      this.#parts.queue.put(
        nowMs + gapMs(this.#parts.arrivals, this.#parts.input.ratePerSecond / this.#parts.input.burst),
        { _tag: "Arrival" }
      )
  }

  #measure(target: Target, { failure, latencyMs }: Answer, nowMs: number): void {
    const ok = failure === null ? true : PerformanceStats.countsAsError(failure) ? false : null
    this.#parts.deciding.ended(target, ok, nowMs)
    if (ok === null || !this.#parts.policy.measured) return
    this.#parts.stats.record({
      connectionId: target.account.connection.id,
      model: target.model,
      combo: countedFor(this.#parts.input.resolution),
      ok,
      latencyMs,
      ttftMs: null,
      outputTokens: ok ? this.#parts.input.outputTokens : null,
      atMs: nowMs
    })
  }

  /** A new access token, or an account whose login is over. */
  #renew(target: Target, failure: Failure): boolean {
    if (this.#parts.upstreams.renew(target, this.#clock.nowMs)) return true
    const lost = { ...failure, kind: "auth_expired", exhausts: "connection" } as const
    this.#parts.counters.changed(
      target,
      this.#parts.health.ended({ target, startedMs: this.#clock.nowMs, endedMs: this.#clock.nowMs, probe: false }, lost)
    )
    return false
  }

  #letGo(request: Request, underWay: RunningCalls): void {
    request.calls.delete(underWay)
    underWay.uncount()
    underWay.ask.permit()
    underWay.ask.lastResortPermit?.()
  }

  /** Another target has answered: the other call is broken off. */
  #breakOff(request: Request): void {
    for (const loser of request.calls) {
      const { probe, turn } = loser.ask
      const { target } = turn
      this.#parts.health.abandoned({ target, startedMs: loser.startedMs, endedMs: this.#clock.nowMs, probe })
      this.#letGo(request, loser)
    }
  }

  #end(request: Request, ended: RunningCalls): void {
    if (!request.calls.has(ended)) return
    const { answer, ask, startedMs } = ended
    const { probe, turn } = ask
    const { target } = turn
    const { number, walk } = request
    const failure = answer.failure === null ? null : walk.weigh(target, answer.failure)
    this.#parts.counters.changed(
      target,
      this.#parts.health.ended({ target, startedMs, endedMs: this.#clock.nowMs, probe }, failure)
    )
    this.#letGo(request, ended)
    this.#measure(target, answer, this.#clock.nowMs)
    this.#parts.input.watch?.called({
      request: number,
      target,
      startedMs,
      endedMs: this.#clock.nowMs,
      retries: turn.retries,
      probe,
      failure
    })
    if (failure !== null) {
      this.#parts.counters.callFailed(target, failure)
      // The client has its beginning: no other target can be asked for the rest.
      if (failure.contentBegan) {
        this.#breakOff(request)
        return this.#parts.counters.failed(true)
      }
      return this.#take(request, walk.failed(turn, failure))
    }
    this.#breakOff(request)
    this.#parts.counters.served(
      target,
      answer.latencyMs,
      this.#clock.nowMs - request.arrivedMs,
      target !== request.favourite
    )
    this.#parts.deciding.served(
      request,
      { target, sessionKey: request.sessionKey, nowMs: this.#clock.nowMs },
      () => this.#parts.candidates.of(this.#aloneOf(target), this.#clock.nowMs)[0]
    )
  }

  /** The resolution with one target. The same one each time: what is known of a list of targets is kept as long as the list. */
  #aloneOf(target: Target): Resolution {
    const known = this.#alone.get(target)
    if (known !== undefined) return known
    const { resolution } = this.#parts.input
    const weights = [resolution.weights[resolution.targets.indexOf(target)] ?? 1]
    const alone = { ...resolution, targets: [target], weights }
    this.#alone.set(target, alone)
    return alone
  }

  #happen(event: Happening): void {
    switch (event._tag) {
      case "Arrival":
        this.#together = Math.min(this.#parts.input.burst, this.#parts.input.requests - this.#arrived)
        return this.#arrive(this.#clock.nowMs)
      case "GoOn": {
        const step = event.next()
        return step === null ? undefined : this.#take(event.request, step)
      }
      case "HedgeDue":
        return event.request.calls.has(event.call)
          ? this.#take(event.request, event.request.walk.hedgeDue(event.call.ask.turn))
          : undefined
      case "End":
        return this.#end(event.request, event.call)
    }
  }

  readonly run = (events: number): boolean => {
    for (let each = 0; each < events; each += 1) {
      if (this.#together > 0) {
        this.#arrive(this.#clock.nowMs)
        continue
      }
      const next = this.#parts.queue.take()
      if (next === null) return false
      this.#clock.nowMs = next.atMs
      this.#happen(next.event)
    }
    return true
  }

  readonly arrived = (): number => this.#arrived

  readonly report = (): SimulationReport => ({
    model: this.#parts.input.model,
    combo: this.#parts.input.resolution.combo?.name ?? null,
    strategy: this.#parts.input.resolution.strategy,
    scenario: this.#parts.input.scenario,
    streamed: this.#parts.streamed,
    seed: this.#parts.input.seed,
    ...this.#parts.counters.totals(),
    durationMs: this.#clock.nowMs - startMs,
    fairness: this.#parts.counters.fairness(),
    targets: this.#parts.counters.targets(this.#parts.health, this.#clock.nowMs),
    notes: [
      ...(this.#parts.scenario === null ? [] : [`In this scenario ${this.#parts.scenario.about}.`]),
      ...notesOf(this.#parts.input)
    ]
  })
}

export const makeSimulation = (input: SimulationInput): Simulation => new SimulatedTraffic(partsOf(input))
