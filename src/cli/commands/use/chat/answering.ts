/** Asks for one answer and shows it as it comes. */
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type CliFailure, CommandFailed } from "../../../Failure.ts"
import * as ChatStream from "../../../gateway/ChatStream.ts"
import * as Client from "../../../gateway/Client.ts"
import { servedName, type ServedBy } from "../../../gateway/Inference.ts"
import { withSpinner } from "../../../output/spinner.ts"
import * as Answer from "./Answer.ts"
import { liveText } from "./LiveText.ts"
import type { Facts } from "./Summary.ts"

export interface Answered {
  readonly answer: Answer.Answer
  readonly servedBy: ServedBy
  /** Time from the first token to the end, in ms. */
  readonly streamedMs: number
}

export interface Asking {
  /** Asks, and writes the text to standard output as it comes. */
  readonly run: Effect.Effect<Answered, CliFailure>
  /** The answer so far; what it is when `run` is interrupted. */
  readonly soFar: () => Answer.Answer
}

export type Question = Parameters<typeof ChatStream.ask>[1]

/** The rest of a stream behind its end is a few bytes. */
const endsWithin = "2 seconds"

/** `isShown`: its text is written as it comes. */
export const asking = (to: Client.Target, question: Question, isShown: boolean): Asking => {
  let answer = Answer.begun
  const live = liveText()
  const show = (piece: string): Effect.Effect<void> => (isShown ? live.show(piece) : Effect.void)

  const run = Effect.gen(function* () {
    let firstMs: number | null = null
    const take = (events: ReadonlyArray<ChatStream.ChatEvent>): string => {
      const before = answer.text.length
      for (const event of events) answer = Answer.next(answer, event)
      return answer.text.slice(before)
    }
    const { next, servedBy, text } = yield* withSpinner("Waiting for an answer …")(
      Effect.gen(function* () {
        const { events, servedBy } = yield* ChatStream.ask(to, question)
        const pull = yield* Stream.toPull(events)
        const next = pull.pipe(
          Effect.map((chunk) => Chunk.toReadonlyArray(chunk)),
          Effect.option,
          Effect.map(Option.getOrNull)
        )
        let text = ""
        let events1 = yield* next
        while (events1 !== null) {
          text = take(events1)
          if (text !== "" || answer.error !== null || answer.isDone) break
          events1 = yield* next
        }
        return { next, servedBy, text }
      })
    )
    firstMs = yield* Clock.currentTimeMillis
    yield* show(text)
    while (!answer.isDone && answer.error === null) {
      const events = yield* next
      if (events === null) break
      yield* show(take(events))
    }
    const streamedMs = (yield* Clock.currentTimeMillis) - firstMs
    // What is left of the stream is read, so that the gateway does not take this for a client that left.
    yield* Effect.timeoutOption(Effect.repeat(next, { until: (events) => events === null }), endsWithin)
    return { answer, servedBy, streamedMs }
  }).pipe(Effect.scoped, Effect.ensuring(live.finishLine))

  return { run, soFar: () => answer }
}

/** Finds the booked cost of a request; null: no price is known, or this key may not see it. */
export const costOf = (to: Client.Target, { costUsd, requestId }: ServedBy): Effect.Effect<number | null> =>
  requestId === null
    ? Effect.succeed(costUsd)
    : Effect.gen(function* () {
        const usage = yield* Client.group(to, "usage")
        const { logs } = yield* usage.logs({ urlParams: { requestId, limit: 1 } })
        const [row] = logs
        return row === undefined || !row.priced ? null : row.costUsd
      }).pipe(
        Effect.timeout("5 seconds"),
        Effect.orElseSucceed(() => costUsd)
      )

export const factsOf = (to: Client.Target, { answer, servedBy, streamedMs }: Answered): Effect.Effect<Facts> =>
  Effect.map(costOf(to, servedBy), (costUsd) => ({
    tokens: Answer.tokensOf(answer),
    streamedMs,
    costUsd,
    served: servedName(servedBy)
  }))

/** The failure that an answer is which is not whole; null: it is whole. */
export const failureOf = ({ answer, servedBy: { requestId } }: Answered): CommandFailed | null => {
  const message = Answer.problemOf(answer)
  if (message === null) return null
  return new CommandFailed(
    requestId === null ? { message } : { message, hint: `'gateway route decision ${requestId}' shows who was asked.` }
  )
}

/** Lists the notes on an answer beside its text. */
export const remarksOf = ({ finishReason, others }: Answer.Answer): ReadonlyArray<string> => [
  ...(finishReason === "length" ? ["The answer ends at the most tokens the model may use."] : []),
  ...(others > 0 ? ["The answer has images, which are not shown. 'gateway image' saves images."] : [])
]
