/** Requests under way in all processes, as the owner shows them: their events while somebody watches, their number each half second, and each of them when asked for. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { DecisionRecord } from "../../subjects/routing/entity.ts"
import { once } from "../../kernel/once.ts"
import { makeSignal } from "../../kernel/collections/Signal.ts"
import type { Timers } from "../../platform/Timers.ts"
import * as Running from "../request/RunningRequests.ts"
import { DecisionLog } from "../routing/records/DecisionLog.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { nameOf, WorkerLinks } from "../state/link/WorkerLinks.ts"
import { makeRounds, takePart } from "../state/link/Rounds.ts"

const topics = {
  /** Says that events are wanted, or no more. */
  watch: "requests.watch",
  event: "requests.event",
  /** `{count, started}` of a worker. */
  gauges: "requests.gauges",
  /** Rounds: the requests under way, at most so many; the decision of one. */
  list: "requests.list",
  decision: "requests.decision"
} as const

const everyMs = "500 millis"

interface Gauges {
  readonly count: number
  readonly started: number
}

interface Told {
  readonly type: Running.ProgressEvent["type"]
  readonly atMs: number
  readonly data: Readonly<Record<string, unknown>>
}

/** A decision with its state, as it is told. */
type ToldDecision = DecisionRecord & { readonly state?: "running" | "ended" }

export const workerLayer: Layer.Layer<never, never, DecisionLog | OwnerLink | Running.RunningRequests> =
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const link = yield* OwnerLink
      const running = yield* Running.RunningRequests
      const log = yield* DecisionLog
      let stop: (() => void) | null = null
      let last: Gauges = { count: 0, started: 0 }
      const watch = (isWanted: boolean): void => {
        if (!isWanted) stop?.()
        if (!isWanted) stop = null
        else
          stop ??= running.listen(({ atMs, data, type }) =>
            link.send(topics.event, { type, atMs, data: data() } satisfies Told)
          )
      }
      const tell = (): void => {
        last = { count: running.count(), started: running.started() }
        link.send(topics.gauges, last)
      }
      const found = (requestId: string): ToldDecision | null => {
        const ended = log.get(requestId)
        return ended === null ? running.decision(requestId) : { ...ended, state: "ended" }
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => [
          link.listen(topics.watch, (isWanted) => watch(isWanted === true)),
          link.watch((isUp) => (isUp ? tell() : watch(false))),
          takePart(link, topics.list, (done, limit) => done(running.list(Number(limit)))),
          takePart(link, topics.decision, (done, requestId) => done(found(String(requestId))))
        ]),
        (stops) =>
          Effect.sync(() => {
            watch(false)
            stops.forEach((each) => each())
          })
      )
      const isOld = (): boolean => last.count !== running.count() || last.started !== running.started()
      yield* Effect.forkScoped(
        Effect.repeat(
          Effect.sync(() => {
            if (isOld()) tell()
          }),
          Schedule.spaced(everyMs)
        )
      )
    })
  )

const makeOwner = Effect.gen(function* () {
  const own = yield* Running.RunningRequests
  const links = yield* WorkerLinks
  const signal = makeSignal<Running.ProgressEvent>()
  const byWorker = new Map<string, Gauges>()
  /** Requests of workers that have ended. */
  let startedBefore = 0
  let listeners = 0
  const lists = makeRounds(links, topics.list)
  const decisions = makeRounds(links, topics.decision)
  const stops = [
    lists.stop,
    decisions.stop,
    links.serve(topics.event, (_, body) => {
      const { atMs, data, type } = body as Told
      signal.tell({ type, atMs, data: () => data })
    }),
    links.serve(topics.gauges, (worker, gauges) => void byWorker.set(nameOf(worker), gauges as Gauges)),
    links.onJoined((worker) => links.tell(worker, topics.watch, listeners > 0)),
    links.onLeft((worker) => {
      startedBefore += byWorker.get(nameOf(worker))?.started ?? 0
      byWorker.delete(nameOf(worker))
    })
  ]
  yield* Effect.addFinalizer(() => Effect.sync(() => stops.forEach((stop) => stop())))
  const summed = (pick: (gauges: Gauges) => number): number => {
    let sum = 0
    for (const gauges of byWorker.values()) sum += pick(gauges)
    return sum
  }
  return Running.RunningRequests.of({
    ...own,
    count: () => own.count() + summed(({ count }) => count),
    started: () => own.started() + startedBefore + summed(({ started }) => started),
    everywhere: (limit) =>
      Effect.map(lists.round(limit), (answers) =>
        [...own.list(limit), ...answers.flatMap((answer) => answer as ReadonlyArray<Running.RunningRequest>)]
          .toSorted((one, other) => one.startedMs - other.startedMs)
          .slice(0, limit)
      ),
    decisionEverywhere: (requestId) =>
      Effect.suspend(() => {
        const here = own.decision(requestId)
        if (here !== null) return Effect.succeed(here)
        return Effect.map(decisions.round(requestId), ([found = null]) => found as DecisionRecord | null)
      }),
    listen: (listener) => {
      const ends = [own.listen(listener), signal.listen(listener)]
      if (listeners++ === 0) links.tellAll(topics.watch, true)
      return once(() => {
        for (const end of ends) end()
        if (--listeners === 0) links.tellAll(topics.watch, false)
      })
    }
  })
})

/** The owner's requests under way, and those of its workers. */
export const ownerLayer: Layer.Layer<Running.RunningRequests, never, Timers | WorkerLinks> = Layer.scoped(
  Running.RunningRequests,
  makeOwner
).pipe(Layer.provide(Running.layer))
