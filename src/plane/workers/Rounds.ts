/** Rounds of the owner: all workers are told something, and it is waited for until each has said that it has done it. */
import * as Effect from "effect/Effect"
import type { OwnerLink, Unlisten } from "../state/link/OwnerLink.ts"
import { nameOf, type WorkerId, type WorkerLinks } from "../state/link/WorkerLinks.ts"

/** Longest time in ms of a round: a worker that is stopped keeps nobody. */
export const mostRoundMs = 1_000

export interface Rounds {
  /** Done when every worker that is there now has answered, or the time is over. */
  readonly round: Effect.Effect<void>
  readonly stop: () => void
}

const answerOf = (topic: string): string => `${topic}.done`

export const makeRounds = ({ onLeft, serve, tellAll, workers }: typeof WorkerLinks.Service, topic: string): Rounds => {
  let last = 0
  const waiting = new Map<number, { readonly left: Set<string>; readonly go: () => void }>()
  const answered = (worker: WorkerId, number: number): void => {
    const round = waiting.get(number)
    if (round === undefined) return
    round.left.delete(nameOf(worker))
    if (round.left.size > 0) return
    waiting.delete(number)
    round.go()
  }
  const stops = [
    serve(answerOf(topic), (worker, number) => answered(worker, Number(number))),
    onLeft((worker) => {
      for (const number of waiting.keys()) answered(worker, number)
    })
  ]
  const round = Effect.suspend(() => {
    const all = workers()
    if (all.length === 0) return Effect.void
    const number = (last += 1)
    return Effect.async<void>((resume) => {
      waiting.set(number, { left: new Set(all.map(nameOf)), go: () => resume(Effect.void) })
      tellAll(topic, number)
      return Effect.sync(() => void waiting.delete(number))
    }).pipe(Effect.timeoutOption(mostRoundMs), Effect.asVoid)
  })
  return { round, stop: () => stops.forEach((stop) => stop()) }
}

/** A worker's part: `run` gets what to do when the work is done. */
export const takePart = (
  { listen, send }: Pick<typeof OwnerLink.Service, "listen" | "send">,
  topic: string,
  run: (done: () => void) => void
): Unlisten => listen(topic, (number) => run(() => send(answerOf(topic), number)))
