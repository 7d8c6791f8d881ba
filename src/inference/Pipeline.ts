/**
 * The story of a request: open (read, resolve, decide) → failover, one target after the other → settle.
 * One fiber per request with one asynchronous step per upstream call; opening and settling are synchronous functions on ready state
 * (the request path must not pay for a suspension that waits for nothing).
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type InferenceError, InternalError } from "../domain/Errors.ts"
import * as Engine from "../routing/decide/Engine.ts"
import type { JsonObject } from "../wire/json/Json.ts"
import * as TokenCounter from "./counting/TokenCounter.ts"
import type { Answered } from "./features/Feature.ts"
import { Features } from "./features/Features.ts"
import { apiKeyIdOf, type Exchange, type Work } from "./request/Exchange.ts"
import { Opening } from "./request/Opening.ts"
import { promptTexts } from "./request/PromptTokens.ts"
import * as StopSignal from "./request/StopSignal.ts"
import { isUncounted } from "./settle/Bill.ts"
import { Ending } from "./settle/Ending.ts"
import { answerBody, answerError } from "./settle/ErrorAnswer.ts"

export class Pipeline extends Context.Tag("gateway/inference/Pipeline")<
  Pipeline,
  {
    /** Serves one request to its end. Never fails: every failure has been told to the client and written down. */
    readonly serve: (exchange: Exchange) => Effect.Effect<void>
    /** Answers a request that goes no further than the door. */
    readonly refuse: (exchange: Exchange, error: InferenceError) => void
  }
>() {}

export const make = Effect.gen(function* () {
  const counter = yield* TokenCounter.TokenCounter
  const ending = yield* Ending
  const { shares } = yield* Engine.Engine
  const features = yield* Features
  const opening = yield* Opening
  const stop = yield* StopSignal.StopSignal

  /** A question about a request, not one: it stands in no book. */
  const count = (exchange: Exchange, parsed: JsonObject): Effect.Effect<void> =>
    Effect.match(StopSignal.unlessStopped(stop, counter.count(exchange, parsed)), {
      onFailure: (error) => answerError(exchange, error),
      onSuccess: ({ body, source }) => answerBody(exchange, body, ["X-Gateway-Token-Count-Source", source])
    })

  const finish = (work: Work, { end, others }: Answered): void => {
    ending.finish(work, end, others)
    features.ended(work, end)
  }

  /** Where no upstream has reported its usage, the prompt is counted for the bill first. */
  const settle = (answered: Answered): Effect.Effect<void> => {
    const { end, others, work } = answered
    if (!isUncounted(end, others)) return Effect.sync(() => finish(work, answered))
    return Effect.flatMap(
      Effect.sync(() => promptTexts(work, work.envelope.model)),
      (texts) => Effect.map(counter.countTexts(texts), (textTokens) => finish({ ...work, textTokens }, answered))
    )
  }

  const answer = (work: Work): Effect.Effect<void> => Effect.flatMap(features.answer(work), settle)

  /** From here to the end a request holds its place in the quota groups it draws on, whatever happens to it. */
  const admitted = (work: Work): Effect.Effect<void> => {
    const leave = shares.enter(work.resolution, apiKeyIdOf(work.exchange))
    return leave === null
      ? answer(work)
      : Effect.ensuring(
          Effect.suspend(() => answer(work)),
          Effect.sync(leave)
        )
  }

  const opened = (exchange: Exchange): Effect.Effect<void> => {
    const work = opening.open(exchange)
    if (!("_tag" in work)) return admitted(work)
    if (work._tag === "Count") return count(exchange, work.parsed)
    if (work._tag === "Ready") answerBody(exchange, work.body)
    else ending.refuse(exchange, work)
    return Effect.void
  }

  const serve = (exchange: Exchange): Effect.Effect<void> =>
    Effect.catchAllCause(
      Effect.suspend(() => opened(exchange)),
      (cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.void
          : Effect.zipRight(
              Effect.logError("A request died", cause),
              Effect.sync(() => ending.refuse(exchange, new InternalError({ cause })))
            )
    )

  return Pipeline.of({ serve, refuse: ending.refuse })
})

export const layer: Layer.Layer<
  Pipeline,
  never,
  TokenCounter.TokenCounter | Ending | Engine.Engine | Features | Opening | StopSignal.StopSignal
> = Layer.effect(Pipeline, make)
