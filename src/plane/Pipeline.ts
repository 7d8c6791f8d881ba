/**
 * The stages of a request: open (read, resolve, decide) → failover, one target after the other → settle.
 * A request whose first call answers runs through plain synchronous functions from one callback of a socket to the next; what has to
 * wait for more than that one answer goes on in a fiber of its own.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { Mutable } from "effect/Types"
import { type InferenceError, InternalError } from "../contract/domain/Errors.ts"
import { Hooks } from "../agents/plugins/hooks/Hooks.ts"
import * as Timers from "../platform/Timers.ts"
import { Slices } from "./resilience/Slices.ts"
import { maxTopMembers } from "../wire/json/Excess.ts"
import { slicedFromBytes } from "../wire/json/LargeBodies.ts"
import * as Catalog from "./providers/Catalog.ts"
import * as HookEvents from "./hooks/Events.ts"
import { isCallersOwn } from "./hooks/HookRuns.ts"
import { listenedTo, openHooked } from "./features/plugins/HookedOpening.ts"
import { GatewaySettings } from "../subjects/flags/StoredFlags.ts"
import { AliveReply } from "./reply/AliveReply.ts"
import { earlyHeaders } from "./request/Headers.ts"
import * as Engine from "./routing/decide/Engine.ts"
import type { Commitment } from "./ledger/Commitment.ts"
import type { Admitted } from "./ledger/KeyLimits.ts"
import { Later } from "../kernel/Later.ts"
import * as TokenCounter from "./counting/TokenCounter.ts"
import type { Answered } from "./features/Feature.ts"
import { Features } from "./features/Features.ts"
import { Admission } from "./request/Admission.ts"
import { apiKeyIdOf, type Exchange, type Work } from "./request/Exchange.ts"
import { InnerPipeline } from "./request/InnerPipeline.ts"
import { type Opened, Opening } from "./request/Opening.ts"
import { RunningRequests } from "./request/RunningRequests.ts"
import { StopSignal } from "./request/StopSignal.ts"
import { promptTexts } from "./request/PromptTokens.ts"
import { isUncounted } from "./settle/Bill.ts"
import { Ending } from "./settle/Ending.ts"
import type { Kept } from "./request/KeptAnswer.ts"
import { answerBody } from "./request/OwnAnswer.ts"

export class Pipeline extends Context.Tag("gateway/plane/Pipeline")<
  Pipeline,
  {
    /** Hot: serves one request to its end. Never throws: a failure is an answer. `over` is called once, when nothing more is done. */
    readonly serve: (exchange: Exchange, over?: () => void) => void
    /** Answers a request that goes no further than its opening. */
    readonly refuse: (exchange: Exchange, error: InferenceError) => void
    /**
     * Settles a request that takes no call of its own, then runs `answer`: it counts for the rates of its key, has a usage row and costs
     * nothing. Refused instead where a rate is used up.
     */
    readonly answerKept: (exchange: Exchange, kept: Kept, answer: () => void) => void
  }
>() {}

const nothing = (): void => {}

/** A request in progress, and what it holds. A class, because one is made per request. */
class Serving {
  leave = nothing
  commitment: Commitment | null = null
  #isOver = false
  #work: Work | null = null
  #place = 0
  readonly #running: Pick<typeof RunningRequests.Service, "enter" | "leave">
  readonly #admission: Pick<typeof Admission.Service, "leave">
  readonly #over: () => void

  constructor({ admission, running }: Pick<Deps, "admission" | "running">, over: () => void) {
    this.#admission = admission
    this.#running = running
    this.#over = over
  }

  /** Notes that it was decided: from here to its end it can be asked about. */
  runs(work: Work): void {
    this.#work = work
    this.#place = this.#running.enter(work)
  }

  readonly ended = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#work !== null) this.#running.leave(this.#place, this.#work)
    this.leave()
    if (this.commitment !== null) this.#admission.leave(this.commitment)
    this.#over()
  }
}

const services = Effect.all({
  admission: Admission,
  counter: TokenCounter.TokenCounter,
  ending: Ending,
  engine: Engine.Engine,
  features: Features,
  gateway: GatewaySettings,
  catalog: Catalog.Catalog,
  hooks: Hooks,
  running: RunningRequests,
  stop: StopSignal,
  timers: Timers.Timers,
  innerPipeline: InnerPipeline,
  opening: Opening,
  slices: Slices
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly runFork: typeof Effect.runFork
}

const died = ({ ending, runFork }: Deps, exchange: Exchange, cause: Cause.Cause<never>): void => {
  runFork(Effect.logError("A request died", cause))
  ending.refuse(exchange, new InternalError({ cause }))
}

/** Runs what has to wait in a fiber of its own. */
const goOn = (deps: Deps, exchange: Exchange, rest: Effect.Effect<void>, over: () => void): void => {
  const caught = Effect.catchAllCause(rest, (cause) => Effect.sync(() => died(deps, exchange, cause)))
  deps.runFork(Effect.ensuring(caught, Effect.sync(over)))
}

const finish = ({ ending, features }: Deps, { end, instead, others, work }: Answered): void => {
  features.ended(work, end, ending.finish(work, end, others, instead))
}

/** Adds the calls that were made beside the answer. */
const whole = (answered: Answered): Answered => {
  const { charged } = answered.work.trail
  return charged.length === 0 ? answered : { ...answered, others: [...answered.others, ...charged] }
}

const isStillUncounted = (answered: Answered): boolean =>
  answered.work.textTokens === undefined && isUncounted(answered)

/** Counts the prompt for the bill where no upstream has reported its usage. */
const counted = (deps: Deps, answered: Answered): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { work } = answered
    const counting = deps.counter.countTexts(promptTexts(work, work.envelope.model))
    return Effect.map(counting, (textTokens) => finish(deps, { ...answered, work: { ...work, textTokens } }))
  })

const settle = (deps: Deps, ended: Answered): Effect.Effect<void> => {
  const answered = whole(ended)
  return isStillUncounted(answered) ? counted(deps, answered) : Effect.sync(() => finish(deps, answered))
}

const answer = (deps: Deps, work: Work, over: () => void): void => {
  const { exchange } = work
  deps.features.start(work, {
    ended: (answered) => {
      if (isStillUncounted(answered)) return goOn(deps, exchange, counted(deps, answered), over)
      finish(deps, answered)
      over()
    },
    goesOn: (rest) => {
      const settled = Effect.flatMap(rest, (ended) => settle(deps, ended))
      goOn(deps, exchange, settled, over)
    },
    died: (defect) => {
      died(deps, exchange, Cause.die(defect))
      over()
    }
  })
}

/** Starts the heartbeat for a client that waits for a stream. */
const keepAlive = ({ gateway, timers }: Deps, exchange: Mutable<Exchange>, work: Work): void => {
  const asked: Mutable<Exchange> = work.exchange
  const { codec, startedMs } = asked
  if (asked.isOnWire !== true || !work.envelope.stream || codec.heartbeat === "") return
  const { heartbeatMs } = gateway.current().streams
  if (heartbeatMs === 0) return
  const headers = (): Array<string> => earlyHeaders(work)
  asked.reply = new AliveReply(asked.reply, { codec, heartbeatMs, startedMs, earlyHeaders: headers, timers })
  exchange.reply = asked.reply
}

const goesOn = (deps: Deps, serving: Serving, exchange: Exchange, opened: Opened): void => {
  const { counter, ending, engine, hooks } = deps
  if (!("_tag" in opened)) {
    serving.commitment = opened.commitment
    opened.exchange.job?.opened()
    // From here to the end it holds its place in the quota groups it draws on, whatever happens to it.
    serving.leave = engine.shares.enter(opened.resolution, apiKeyIdOf(exchange)) ?? nothing
    keepAlive(deps, exchange, opened)
    serving.runs(opened)
    if (hooks.listens.any) HookEvents.decided(hooks, opened)
    return answer(deps, opened, serving.ended)
  }
  if (opened._tag === "Count") {
    return goOn(deps, exchange, counter.answer(opened.exchange, opened.parsed), serving.ended)
  }
  if (opened._tag === "Ready") answerBody(exchange, opened.body)
  else ending.refuse(exchange, opened)
  serving.ended()
}

const serve = (deps: Deps, exchange: Exchange, over: () => void = nothing): void => {
  if (exchange.body.length < slicedFromBytes) serveRead(deps, exchange, over)
  else deps.slices.whenRead(exchange.body, () => serveLarge(deps, exchange, over), maxTopMembers)
}

/** The same for a large body: other requests are served between the steps. */
const serveLarge = (deps: Deps, exchange: Exchange, over: () => void): void => {
  const { hooks, opening, timers } = deps
  if (hooks.listens.any && isCallersOwn(exchange)) return serveRead(deps, exchange, over)
  const serving = new Serving(deps, over)
  const guarded = (step: () => void): void => {
    try {
      step()
    } catch (defect) {
      died(deps, exchange, Cause.die(defect))
      serving.ended()
    }
  }
  guarded(() => {
    const opened = opening.open(exchange)
    if (opened instanceof Later) whenOpened(deps, serving, exchange, opened)
    else timers.soon(() => guarded(() => goesOn(deps, serving, exchange, opened)))
  })
}

/** Goes on with a request whose limits another process was asked for. */
const whenOpened = (deps: Deps, serving: Serving, exchange: Exchange, opening: Later<Opened>): void =>
  opening.whenKnown((opened) => {
    try {
      goesOn(deps, serving, exchange, opened)
    } catch (defect) {
      died(deps, exchange, Cause.die(defect))
      serving.ended()
    }
  })

const serveRead = (deps: Deps, exchange: Exchange, over: () => void): void => {
  const { hooks, opening } = deps
  const serving = new Serving(deps, over)
  if (hooks.listens.any && isCallersOwn(exchange)) return serveListened(deps, serving, listenedTo(deps.hooks, exchange))
  try {
    const opened = opening.open(exchange)
    if (opened instanceof Later) whenOpened(deps, serving, exchange, opened)
    else goesOn(deps, serving, exchange, opened)
  } catch (defect) {
    died(deps, exchange, Cause.die(defect))
    serving.ended()
  }
}

/** The same, where plugins listen. */
const serveListened = (deps: Deps, serving: Serving, exchange: Exchange): void =>
  openHooked(deps, exchange, {
    admitted: (commitment) => {
      serving.commitment = commitment
    },
    opened: (opened) => goesOn(deps, serving, exchange, opened),
    stopped: serving.ended,
    died: (cause) => {
      died(deps, exchange, cause)
      serving.ended()
    }
  })

const answerKept = ({ admission, ending }: Deps, exchange: Exchange, kept: Kept, answer: () => void): void => {
  const settle = (admitted: Admitted): void => {
    if (admitted instanceof Error) return ending.refuse(exchange, admitted)
    ending.keep(exchange, kept, answer)
    if (admitted !== null) admission.leave(admitted)
  }
  const admitted = admission.admit(exchange, null)
  if (admitted instanceof Later) admitted.whenKnown(settle)
  else settle(admitted)
}

export const make = Effect.gen(function* () {
  const all = yield* services
  const deps: Deps = { ...all, runFork: Runtime.runFork(yield* Effect.runtime<never>()) }

  deps.innerPipeline.attach({ serve: (exchange, over) => serve(deps, exchange, over), refuse: deps.ending.refuse })
  return Pipeline.of({
    serve: (exchange, over) => serve(deps, exchange, over),
    refuse: deps.ending.refuse,
    answerKept: (exchange, kept, answer) => answerKept(deps, exchange, kept, answer)
  })
})

export const layer: Layer.Layer<Pipeline, never, Effect.Effect.Context<typeof services>> = Layer.effect(Pipeline, make)
