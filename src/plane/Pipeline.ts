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
import { type InferenceError, InternalError, LimitReached, PluginFailed, ShuttingDown } from "../domain/Errors.ts"
import { Hooks, type Listens } from "../agents/plugins/hooks/Hooks.ts"
import type { HookRun } from "../agents/plugins/hooks/HookRun.ts"
import * as Timers from "../platform/Timers.ts"
import { Slices } from "./resilience/Slices.ts"
import { maxTopMembers } from "../wire/json/Excess.ts"
import { slicedFromBytes } from "../wire/json/LargeBodies.ts"
import * as Catalog from "./providers/Catalog.ts"
import { invalidField } from "../wire/json/FieldReader.ts"
import { blockedBy } from "./features/plugins/BlockedAnswers.ts"
import * as HookEvents from "./hooks/Events.ts"
import { isCallersOwn, newRun, runOf } from "./hooks/HookRuns.ts"
import { namingPlugins } from "./features/plugins/PluginHeader.ts"
import { type Asked, askPlugins } from "./features/plugins/RequestHooks.ts"
import { GatewaySettings } from "../subjects/flags/StoredFlags.ts"
import { AliveReply } from "./reply/AliveReply.ts"
import { changingHead } from "./reply/ReplyHeaders.ts"
import { earlyHeaders } from "./request/Headers.ts"
import * as Engine from "./routing/decide/Engine.ts"
import type { Commitment } from "./ledger/Commitment.ts"
import * as TokenCounter from "./counting/TokenCounter.ts"
import type { Answered } from "./features/Feature.ts"
import { Features } from "./features/Features.ts"
import { Admission } from "./request/Admission.ts"
import { apiKeyIdOf, type Exchange, type Work } from "./request/Exchange.ts"
import { InnerPipeline } from "./request/InnerPipeline.ts"
import { type Count, Opening, type Read, type Ready } from "./request/Opening.ts"
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
  readonly #admission: Pick<typeof Admission.Service, "leave">
  readonly #over: () => void

  constructor(admission: Pick<typeof Admission.Service, "leave">, over: () => void) {
    this.#admission = admission
    this.#over = over
  }

  readonly ended = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    this.leave()
    if (this.commitment !== null) this.#admission.leave(this.commitment)
    this.#over()
  }
}

/** Outcome of opening a request. */
type Opened = Work | InferenceError | Ready | Count

const services = Effect.all({
  admission: Admission,
  counter: TokenCounter.TokenCounter,
  ending: Ending,
  engine: Engine.Engine,
  features: Features,
  gateway: GatewaySettings,
  catalog: Catalog.Catalog,
  hooks: Hooks,
  stop: StopSignal,
  timers: Timers.Timers,
  innerPipeline: InnerPipeline,
  opening: Opening,
  slices: Slices
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly runFork: typeof Effect.runFork
  readonly listens: Listens
}

const died = ({ ending, runFork }: Deps, exchange: Exchange, cause: Cause.Cause<never>): void => {
  runFork(Effect.logError("A request died", cause))
  ending.refuse(exchange, new InternalError({ cause }))
}

/** Runs what has to wait in a fiber of its own. */
const goOn = (deps: Deps, exchange: Exchange, rest: Effect.Effect<void>, over: () => void): void => {
  const { runFork } = deps
  const caught = Effect.catchAllCause(rest, (cause) => Effect.sync(() => died(deps, exchange, cause)))
  runFork(Effect.ensuring(caught, Effect.sync(over)))
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
  const { features } = deps
  const { exchange } = work
  features.start(work, {
    ended: (answered) => {
      if (isStillUncounted(answered)) return goOn(deps, exchange, counted(deps, answered), over)
      finish(deps, answered)
      over()
    },
    goesOn: (rest) =>
      goOn(
        deps,
        exchange,
        Effect.flatMap(rest, (ended) => settle(deps, ended)),
        over
      ),
    died: (defect) => {
      died(deps, exchange, Cause.die(defect))
      over()
    }
  })
}

/** Marks the exchange: from here on plugins listen to it. */
const listenedTo = ({ listens }: Deps, asked: Mutable<Exchange>): Exchange => {
  const run = newRun(asked)
  // In its place: a copy has another form for the engine, which makes every later read of it slower.
  asked.hooks = run
  if (listens.onRequest || listens.onResponse)
    asked.reply = changingHead(asked.reply, (_, headers) => namingPlugins(headers, run.touched))
  return asked
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
  const { counter, ending, engine, hooks, listens } = deps
  if (!("_tag" in opened)) {
    serving.commitment = opened.commitment
    opened.exchange.job?.opened()
    // From here to the end it holds its place in the quota groups it draws on, whatever happens to it.
    serving.leave = engine.shares.enter(opened.resolution, apiKeyIdOf(exchange)) ?? nothing
    keepAlive(deps, exchange, opened)
    if (listens.any) HookEvents.decided(hooks, opened)
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
  const { slices } = deps
  if (exchange.body.length < slicedFromBytes) serveRead(deps, exchange, over)
  else slices.whenRead(exchange.body, () => serveLarge(deps, exchange, over), maxTopMembers)
}

/** The same for a large body: other requests are served between the steps. */
const serveLarge = (deps: Deps, exchange: Exchange, over: () => void): void => {
  const { admission, listens, opening, timers } = deps
  if (listens.any && isCallersOwn(exchange)) return serveRead(deps, exchange, over)
  const serving = new Serving(admission, over)
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
    timers.soon(() => guarded(() => goesOn(deps, serving, exchange, opened)))
  })
}

const serveRead = (deps: Deps, exchange: Exchange, over: () => void): void => {
  const { admission, listens, opening } = deps
  const serving = new Serving(admission, over)
  if (listens.any && isCallersOwn(exchange)) return serveListened(deps, serving, listenedTo(deps, exchange))
  try {
    goesOn(deps, serving, exchange, opening.open(exchange))
  } catch (defect) {
    died(deps, exchange, Cause.die(defect))
    serving.ended()
  }
}

/** The same, where plugins listen. */
const serveListened = (deps: Deps, serving: Serving, exchange: Exchange): void => {
  const { hooks, listens, opening, runFork, stop } = deps
  const diedOf = (cause: Cause.Cause<never>): void => {
    died(deps, exchange, cause)
    serving.ended()
  }
  const guarded = (run: () => void): void => {
    try {
      run()
    } catch (defect) {
      diedOf(Cause.die(defect))
    }
  }
  guarded(() => {
    const run = runOf(exchange)
    const read = opening.read(exchange)
    if ("_tag" in read && read._tag !== "Count") return goesOn(deps, serving, exchange, read)
    known(deps, run, read)
    // What a provider has accepted was let in before a restart.
    const isLetIn = exchange.job !== undefined && exchange.job.accepted !== null
    if (!listens.onRequest || isLetIn)
      return goesOn(deps, serving, exchange, "_tag" in read ? read : opening.decide(read))
    const admitted = "_tag" in read ? null : opening.admit(read)
    if (admitted instanceof LimitReached) return goesOn(deps, serving, exchange, admitted)
    serving.commitment = admitted
    const asking = askPlugins({ hooks, stop }, run, read.exchange, read.parsed)
    runFork(
      Effect.matchCause(asking, {
        onFailure: diedOf,
        onSuccess: (verdict) =>
          guarded(() => {
            if (verdict._tag === "Passed") {
              return goesOn(deps, serving, exchange, openedAgain(deps, read, verdict.exchange, admitted))
            }
            stopped(deps, read, verdict)
            serving.ended()
          })
      })
    )
  })
}

const known = ({ catalog }: Deps, run: HookRun, read: Read | Count): void => {
  const model = "_tag" in read ? read.parsed["model"] : read.envelope.model
  run.model = typeof model === "string" ? model : ""
  run.stream = "_tag" in read ? false : read.envelope.stream
  const slash = run.model.indexOf("/")
  const spec = slash <= 0 ? null : catalog.current().provider(run.model.slice(0, slash))
  run.provider = spec?.id ?? ""
}

/** Checks a request that a plugin has changed like any other. */
const openedAgain = (
  { opening }: Deps,
  first: Read | Count,
  exchange: Exchange,
  admitted: Commitment | null
): Opened => {
  if (exchange === first.exchange) return "_tag" in first ? first : opening.decide(first, admitted)
  const read = opening.read(exchange)
  if ("_tag" in read) return read
  if ("_tag" in first || first.envelope.stream !== read.envelope.stream) {
    return invalidField("stream", "a plugin has changed it; how the answer is sent is for the client to say")
  }
  const leftOut = [...new Set([...first.leftOut, ...read.leftOut])]
  return opening.decide({ ...read, leftOut }, admitted)
}

const aborted = { outcome: "aborted", status: 499, error: "client_left" } as const

/** Plugins let it go no further, or it was not waited for. */
const stopped = (
  { ending, hooks, timers }: Deps,
  read: Read | Count,
  verdict: Exclude<Asked, { readonly _tag: "Passed" }>
): void => {
  const { exchange } = read
  const envelope = "_tag" in read ? null : read.envelope
  const requestedModel = exchange.hooks?.model ?? ""
  switch (verdict._tag) {
    case "ClientGone":
      return ending.keep(exchange, { requestedModel, provider: null, model: "", ending: aborted }, nothing)
    case "ShuttingDown":
      return ending.refuse(exchange, new ShuttingDown())
    case "Wrong":
      return ending.refuse(exchange, verdict.error)
    case "Refused":
      return ending.refuse(exchange, new PluginFailed({ plugin: verdict.plugin, model: requestedModel }))
    case "Blocked": {
      const latencyMs = Math.round(timers.monotonicMs() - exchange.startedMs)
      const request = { exchange, parsed: read.parsed, envelope, nowMs: timers.nowMs(), latencyMs }
      const blocked = blockedBy(request, verdict.plugin, verdict.answer)
      if (blocked._tag === "Error") return ending.refuse(exchange, blocked.error, blocked.headers)
      const { body, headers, status } = blocked
      const isError = status >= 400
      const code = "plugin_blocked"
      const of = isError
        ? ({ outcome: "failed", status, error: code } as const)
        : ({ outcome: "completed", status, error: null } as const)
      const message = `The plugin '${verdict.plugin}' has blocked the request.`
      if (isError) HookEvents.endedAsError(hooks, exchange, { status, code, message })
      return ending.keep(exchange, { requestedModel, provider: null, model: "", ending: of }, () => {
        if (exchange.reply.isClosed()) return
        exchange.reply.head(status, headers)
        exchange.reply.end(body)
      })
    }
  }
}

const answerKept = ({ admission, ending }: Deps, exchange: Exchange, kept: Kept, answer: () => void): void => {
  const admitted = admission.admit(exchange, null)
  if (admitted instanceof LimitReached) return ending.refuse(exchange, admitted)
  ending.keep(exchange, kept, answer)
  if (admitted !== null) admission.leave(admitted)
}

export const make = Effect.gen(function* () {
  const all = yield* services

  const { listens } = all.hooks
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const deps: Deps = { ...all, runFork, listens }

  deps.innerPipeline.attach({ serve: (exchange, over) => serve(deps, exchange, over), refuse: deps.ending.refuse })
  return Pipeline.of({
    serve: (exchange, over) => serve(deps, exchange, over),
    refuse: deps.ending.refuse,
    answerKept: (exchange, kept, answer) => answerKept(deps, exchange, kept, answer)
  })
})

export const layer: Layer.Layer<
  Pipeline,
  never,
  | Admission
  | Catalog.Catalog
  | TokenCounter.TokenCounter
  | Ending
  | Engine.Engine
  | Features
  | GatewaySettings
  | Hooks
  | InnerPipeline
  | Opening
  | Slices
  | StopSignal
  | Timers.Timers
> = Layer.effect(Pipeline, make)
