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
import { type InferenceError, InternalError, LimitReached } from "../domain/Errors.ts"
import * as Engine from "../routing/decide/Engine.ts"
import type { Commitment } from "../ledger/Commitment.ts"
import * as TokenCounter from "./counting/TokenCounter.ts"
import type { Answered } from "./features/Feature.ts"
import { Features } from "./features/Features.ts"
import { Admission } from "./request/Admission.ts"
import { apiKeyIdOf, type Exchange, type Work } from "./request/Exchange.ts"
import { InnerDoor } from "./request/InnerDoor.ts"
import { Opening } from "./request/Opening.ts"
import { promptTexts } from "./request/PromptTokens.ts"
import { isUncounted } from "./settle/Bill.ts"
import { Ending } from "./settle/Ending.ts"
import type { Kept } from "./request/KeptAnswer.ts"
import { answerBody } from "./request/OwnAnswer.ts"

export class Pipeline extends Context.Tag("gateway/inference/Pipeline")<
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

export const make = Effect.gen(function* () {
  const admission = yield* Admission
  const counter = yield* TokenCounter.TokenCounter
  const ending = yield* Ending
  const { shares } = yield* Engine.Engine
  const features = yield* Features
  const door = yield* InnerDoor
  const opening = yield* Opening
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const died = (exchange: Exchange, cause: Cause.Cause<never>): void => {
    runFork(Effect.logError("A request died", cause))
    ending.refuse(exchange, new InternalError({ cause }))
  }

  /** Runs what has to wait in a fiber of its own. */
  const goOn = (exchange: Exchange, rest: Effect.Effect<void>, over: () => void): void => {
    const caught = Effect.catchAllCause(rest, (cause) => Effect.sync(() => died(exchange, cause)))
    runFork(Effect.ensuring(caught, Effect.sync(over)))
  }

  const finish = ({ end, instead, others, work }: Answered): void => {
    features.ended(work, end, ending.finish(work, end, others, instead))
  }

  /** With the calls that were made beside it. */
  const whole = (answered: Answered): Answered => {
    const { charged } = answered.work.trail
    return charged.length === 0 ? answered : { ...answered, others: [...answered.others, ...charged] }
  }

  /** Where no upstream has reported its usage, the prompt is counted for the bill first. */
  const counted = (answered: Answered): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { work } = answered
      const counting = counter.countTexts(promptTexts(work, work.envelope.model))
      return Effect.map(counting, (textTokens) => finish({ ...answered, work: { ...work, textTokens } }))
    })

  const settle = (ended: Answered): Effect.Effect<void> => {
    const answered = whole(ended)
    return isUncounted(answered) ? counted(answered) : Effect.sync(() => finish(answered))
  }

  const answer = (work: Work, over: () => void): void => {
    const { exchange } = work
    features.begin(work, {
      answered: (answered) => {
        if (isUncounted(answered)) return goOn(exchange, counted(answered), over)
        finish(answered)
        over()
      },
      goesOn: (rest) => goOn(exchange, Effect.flatMap(rest, settle), over),
      died: (defect) => {
        died(exchange, Cause.die(defect))
        over()
      }
    })
  }

  const serve = (exchange: Exchange, over: () => void = nothing): void => {
    let leave = nothing
    let commitment: Commitment | null = null
    let isOver = false
    const ended = (): void => {
      if (isOver) return
      isOver = true
      leave()
      if (commitment !== null) admission.leave(commitment)
      over()
    }
    try {
      const work = opening.open(exchange)
      if (!("_tag" in work)) {
        commitment = work.commitment
        exchange.job?.opened()
        // From here to the end it holds its place in the quota groups it draws on, whatever happens to it.
        leave = shares.enter(work.resolution, apiKeyIdOf(exchange)) ?? nothing
        return answer(work, ended)
      }
      if (work._tag === "Count") return goOn(exchange, counter.answer(exchange, work.parsed), over)
      if (work._tag === "Ready") answerBody(exchange, work.body)
      else ending.refuse(exchange, work)
    } catch (defect) {
      died(exchange, Cause.die(defect))
    }
    ended()
  }

  const answerKept = (exchange: Exchange, kept: Kept, answer: () => void): void => {
    const admitted = admission.admit(exchange, null)
    if (admitted instanceof LimitReached) return ending.refuse(exchange, admitted)
    ending.keep(exchange, kept, answer)
    if (admitted !== null) admission.leave(admitted)
  }

  door.attach(serve)
  return Pipeline.of({ serve, refuse: ending.refuse, answerKept })
})

export const layer: Layer.Layer<
  Pipeline,
  never,
  Admission | TokenCounter.TokenCounter | Ending | Engine.Engine | Features | InnerDoor | Opening
> = Layer.effect(Pipeline, make)
