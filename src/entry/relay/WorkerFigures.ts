/** Figures of the processes of workers at the owner, whose page of metrics shows them, one by one and in its sums. Each worker sends its own every two seconds. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { OwnerLink } from "../../plane/state/link/OwnerLink.ts"
import { nameOf, type WorkerId, WorkerLinks } from "../../plane/state/link/WorkerLinks.ts"
import { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import { LoadShedder } from "../../plane/resilience/LoadShedder.ts"
import { ProcessFacts } from "../../platform/ProcessFacts.ts"
import { WorkersBeside } from "../../platform/programs/SiblingWorkers.ts"
import { OpenStreams } from "../listening/OpenStreams.ts"

const topic = "figures"
const every = "2 seconds"

export interface Figures {
  readonly rssBytes: number
  /** 99th percentile in ms since the figures before; null: none was measured. */
  readonly eventLoopDelayMs: number | null
  readonly openStreams: number
  readonly inFlight: number
  readonly bodyBytes: number
  /** Numbers since the start of the worker. */
  readonly shed: number
  readonly bodiesRefused: number
}

export interface WorkersFigures {
  readonly wanted: number
  readonly running: number
  readonly byPlace: ReadonlyArray<readonly [place: number, figures: Figures]>
  /** Numbers of workers that have ended. */
  readonly ended: { readonly shed: number; readonly bodiesRefused: number }
}

/** Figures of all workers; null: the gateway is one process. */
export class WorkerFigures extends Context.Reference<WorkerFigures>()("gateway/entry/relay/WorkerFigures", {
  defaultValue: (): (() => WorkersFigures) | null => null
}) {}

const makeWorker = Effect.gen(function* () {
  const { send } = yield* OwnerLink
  const facts = yield* ProcessFacts
  const streams = yield* OpenStreams
  const shedder = yield* LoadShedder
  const bodies = yield* BodyBudget
  const tell = Effect.sync(() => {
    const { eventLoopDelayMs, rssBytes } = facts.read()
    send(topic, {
      rssBytes,
      eventLoopDelayMs,
      openStreams: streams.count(),
      inFlight: shedder.inFlight(),
      bodyBytes: bodies.heldBytes(),
      shed: shedder.shed(),
      bodiesRefused: bodies.refused()
    } satisfies Figures)
  })
  yield* Effect.forkScoped(Effect.repeat(tell, Schedule.spaced(every)))
})

export const workerLayer: Layer.Layer<never, never, BodyBudget | LoadShedder | OpenStreams | OwnerLink | ProcessFacts> =
  Layer.scopedDiscard(makeWorker)

const makeOwner = Effect.gen(function* () {
  const { onLeft, serve } = yield* WorkerLinks
  const beside = yield* WorkersBeside
  const known = new Map<string, readonly [place: number, figures: Figures]>()
  let ended = { shed: 0, bodiesRefused: 0 }
  const left = (worker: WorkerId): void => {
    const [, last] = known.get(nameOf(worker)) ?? []
    known.delete(nameOf(worker))
    if (last === undefined) return
    ended = { shed: ended.shed + last.shed, bodiesRefused: ended.bodiesRefused + last.bodiesRefused }
  }
  const stops = [
    serve(topic, (worker, figures) => void known.set(nameOf(worker), [worker.place, figures as Figures])),
    onLeft(left)
  ]
  yield* Effect.addFinalizer(() => Effect.sync(() => stops.forEach((stop) => stop())))
  if (beside === null) return null
  return (): WorkersFigures => ({
    wanted: beside.wanted,
    running: new Set(beside.running().map(({ place }) => place)).size,
    byPlace: [...known.values()].toSorted(([a], [b]) => a - b),
    ended
  })
})

export const ownerLayer: Layer.Layer<never, never, WorkerLinks> = Layer.scopedContext(
  Effect.map(makeOwner, (figures) => Context.make(WorkerFigures, figures) as Context.Context<never>)
)
