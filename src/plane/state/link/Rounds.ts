/** Rounds of the owner: all workers are told or asked something, and it is waited for until each has answered. */
import * as Effect from "effect/Effect"
import type { OwnerLink, Unlisten } from "./OwnerLink.ts"
import { nameOf, type WorkerId, type WorkerLinks } from "./WorkerLinks.ts"

/** Longest time in ms of a round: a worker that is stopped keeps nobody. */
export const mostRoundMs = 1_000

export interface Rounds {
  /** Done when every worker that is there now has answered, or the time is over: their answers, as far as they have come. */
  readonly round: (question?: unknown) => Effect.Effect<ReadonlyArray<unknown>>
  readonly stop: () => void
}

/** A question, and an answer to it. */
interface Numbered {
  readonly number: number
  readonly body: unknown
}

interface Round {
  readonly left: Set<string>
  readonly answers: Array<unknown>
  readonly go: () => void
}

const answerOf = (topic: string): string => `${topic}.done`

export const makeRounds = ({ onLeft, serve, tellAll, workers }: typeof WorkerLinks.Service, topic: string): Rounds => {
  let last = 0
  const waiting = new Map<number, Round>()
  const gone = (worker: WorkerId, number: number): void => {
    const round = waiting.get(number)
    if (round === undefined) return
    round.left.delete(nameOf(worker))
    if (round.left.size > 0) return
    waiting.delete(number)
    round.go()
  }
  const stops = [
    serve(answerOf(topic), (worker, answer) => {
      const { body, number } = answer as Numbered
      if (body !== null) waiting.get(number)?.answers.push(body)
      gone(worker, number)
    }),
    onLeft((worker) => {
      for (const number of waiting.keys()) gone(worker, number)
    })
  ]
  const round = (question: unknown = null) =>
    Effect.suspend(() => {
      const all = workers()
      const answers: Array<unknown> = []
      if (all.length === 0) return Effect.succeed(answers)
      const number = (last += 1)
      return Effect.async<void>((resume) => {
        waiting.set(number, { left: new Set(all.map(nameOf)), answers, go: () => resume(Effect.void) })
        tellAll(topic, { number, body: question } satisfies Numbered)
        return Effect.sync(() => void waiting.delete(number))
      }).pipe(Effect.timeoutOption(mostRoundMs), Effect.as(answers))
    })
  return { round, stop: () => stops.forEach((stop) => stop()) }
}

/** A worker's part: `run` gets the question and what to do when there is an answer, null where there is nothing to say. */
export const takePart = (
  { listen, send }: Pick<typeof OwnerLink.Service, "listen" | "send">,
  topic: string,
  run: (done: (answer: unknown) => void, question: unknown) => void
): Unlisten =>
  listen(topic, (asked) => {
    const { body, number } = asked as Numbered
    run((answer) => send(answerOf(topic), { number, body: answer } satisfies Numbered), body)
  })
