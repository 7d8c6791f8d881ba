/**
 * Places of workers (`plane/state/permits`): the owner counts them, so that a limit holds over all processes. A worker keeps a place that is free again
 * for a moment, and gives it back at once when another process waits for it. What a worker holds is free when it ends.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { Timers } from "../../platform/Timers.ts"
import { RunningWorkers } from "../../store/DataFolder.ts"
import { ConcurrencyGate } from "../resilience/ConcurrencyGate.ts"
import { Expected } from "../state/ledger/Expected.ts"
import { OwnerLink } from "../state/link/OwnerLink.ts"
import { nameOf, type WorkerId, WorkerLinks } from "../state/link/WorkerLinks.ts"
import { Permits, type PermitsShape, type Place, type Release } from "../state/Permits.ts"

const topics = {
  /** `{key, limit}`; answered with `granted` when there is a place. */
  take: "permit.take",
  /** The key of a place that is given back. */
  give: "permit.give",
  /** The key of places that another process waits for. */
  wanted: "permit.wanted",
  /** `Told`: all places that a worker has, when an owner is there. */
  held: "permit.held"
} as const

const granted = "granted"

/** Time in ms for which a free place is kept. */
const keptMs = 250
/** Time in ms until an owner that is away is asked again. */
const retryMs = 100

interface Wanted {
  readonly key: string
  readonly limit: number
}

type Told = ReadonlyArray<readonly [key: string, limit: number, places: number]>

interface Desk {
  /** Places that this worker has and does not use. */
  idle: number
  inUse: number
  limit: number
  /** Another process waits for places. */
  isWanted: boolean
  readonly line: Set<(release: Release) => void>
  /** Questions to the owner that are not answered yet. */
  asked: number
}

class WorkerPlaces implements PermitsShape {
  readonly #desks = new Map<string, Desk>()
  readonly #link: typeof OwnerLink.Service
  readonly #after: (delayMs: number, run: () => void) => unknown

  constructor(link: typeof OwnerLink.Service, after: (delayMs: number, run: () => void) => unknown) {
    this.#link = link
    this.#after = after
  }

  readonly enter = (key: string, limit: number, queueDepth: number): Place => {
    const desk = this.#deskOf(key)
    desk.limit = limit
    if (desk.idle > 0 && desk.line.size === 0 && desk.inUse < limit) {
      desk.idle -= 1
      return { _tag: "Free", release: this.#use(key, desk) }
    }
    return desk.line.size >= queueDepth ? { _tag: "Full" } : { _tag: "Queued", wait: this.#wait(key, limit) }
  }

  readonly inUse = (key: string): number => this.#desks.get(key)?.inUse ?? 0

  readonly waiting = (key: string): number => this.#desks.get(key)?.line.size ?? 0

  /** Another process waits for places under a key. */
  wanted(key: string): void {
    const desk = this.#desks.get(key)
    if (desk === undefined) return
    desk.isWanted = true
    this.#giveBack(key, desk)
  }

  /** Tells an owner what this worker has: it may be a new one. */
  tell(): void {
    const held: Told = [...this.#desks].flatMap(([key, { idle, inUse, limit }]) =>
      idle + inUse === 0 ? [] : [[key, limit, idle + inUse] as const]
    )
    this.#link.send(topics.held, held)
  }

  #deskOf(key: string): Desk {
    const known = this.#desks.get(key)
    if (known !== undefined) return known
    const desk: Desk = { idle: 0, inUse: 0, limit: 0, isWanted: false, line: new Set(), asked: 0 }
    this.#desks.set(key, desk)
    return desk
  }

  #wait(key: string, limit: number): Effect.Effect<Release> {
    return Effect.suspend(() => {
      const desk = this.#deskOf(key)
      desk.limit = limit
      let got: Release | null = null
      return Effect.async<Release>((resume) => {
        const waiter = (release: Release): void => {
          got = release
          resume(Effect.succeed(release))
        }
        desk.line.add(waiter)
        this.#ask(key, desk)
        return Effect.sync(() => void desk.line.delete(waiter))
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => got?.())))
    })
  }

  /** Asks the owner for as many places as are waited for. */
  #ask(key: string, desk: Desk): void {
    while (desk.asked < desk.line.size) {
      desk.asked += 1
      this.#link.ask(topics.take, { key, limit: desk.limit } satisfies Wanted, (answer) => {
        if (answer === granted) {
          desk.asked -= 1
          return this.#free(key, desk)
        }
        // The owner is away: what waits goes on waiting, as long as it likes to. Until then it counts as asked, since the answer may come at once.
        this.#after(retryMs, () => {
          desk.asked -= 1
          this.#ask(key, desk)
        })
      })
    }
  }

  #use(key: string, desk: Desk): Release {
    desk.inUse += 1
    let isUsed = true
    return () => {
      if (!isUsed) return
      isUsed = false
      desk.inUse -= 1
      this.#free(key, desk)
    }
  }

  /** A place of this worker is free: the first in line has it, or it is kept for a moment. */
  #free(key: string, desk: Desk): void {
    const [first] = desk.line
    if (first !== undefined) {
      desk.line.delete(first)
      return first(this.#use(key, desk))
    }
    desk.idle += 1
    if (desk.isWanted) return this.#giveBack(key, desk)
    this.#after(keptMs, () => this.#giveBack(key, desk))
  }

  #giveBack(key: string, desk: Desk): void {
    for (; desk.idle > 0; desk.idle -= 1) this.#link.send(topics.give, key)
    if (desk.inUse > 0 || desk.line.size > 0 || desk.asked > 0) return
    desk.isWanted = false
    if (this.#desks.get(key) === desk) this.#desks.delete(key)
  }
}

export const workerLayer: Layer.Layer<never, never, OwnerLink | Timers> = Layer.scopedContext(
  Effect.gen(function* () {
    const link = yield* OwnerLink
    const { after } = yield* Timers
    const places = new WorkerPlaces(link, after)
    const stops = [
      link.listen(topics.wanted, (key) => places.wanted(String(key))),
      link.watch((isUp) => {
        if (isUp) places.tell()
      })
    ]
    yield* Effect.addFinalizer(() => Effect.sync(() => stops.forEach((stop) => stop())))
    if (link.isUp()) places.tell()
    return Context.make(Permits, places) as Context.Context<never>
  })
)

/** Places that a worker holds at the owner, and those it waits for. */
interface Held {
  readonly releases: Map<string, Array<Release>>
  readonly waits: Set<Fiber.RuntimeFiber<unknown>>
  /** The worker has ended, or has told anew what it holds: what is granted now comes back at once. */
  isOver: boolean
}

const makeOwner = Effect.gen(function* () {
  const gate = yield* ConcurrencyGate
  const { onLeft, serve, tellAll } = yield* WorkerLinks
  const { after } = yield* Timers
  const expected = new Expected(after)
  expected.expect(yield* RunningWorkers)
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const byWorker = new Map<string, Held>()
  const ended = new Set<string>()

  const heldBy = (worker: WorkerId): Held => {
    const name = nameOf(worker)
    const known = byWorker.get(name)
    if (known !== undefined) return known
    const held: Held = { releases: new Map(), waits: new Set(), isOver: false }
    byWorker.set(name, held)
    return held
  }
  const note = ({ releases }: Held, key: string, release: Release): void => {
    const known = releases.get(key)
    if (known === undefined) releases.set(key, [release])
    else known.push(release)
  }
  const take = (worker: WorkerId, { key, limit }: Wanted, answer: (granted: string) => void): void => {
    // It may have waited here for others.
    if (ended.has(nameOf(worker))) return
    const held = heldBy(worker)
    const place = gate.enter(key, limit, Number.POSITIVE_INFINITY)
    if (place._tag === "Full") return
    if (place._tag === "Free") {
      note(held, key, place.release)
      return answer(granted)
    }
    tellAll(topics.wanted, key)
    const waiting = Effect.uninterruptibleMask((restore) =>
      Effect.map(restore(place.wait), (release) => {
        if (held.isOver) return release()
        note(held, key, release)
        answer(granted)
      })
    )
    const fiber: Fiber.RuntimeFiber<unknown> = runFork(waiting)
    held.waits.add(fiber)
    fiber.addObserver(() => held.waits.delete(fiber))
  }
  const give = (worker: WorkerId, key: string): void => {
    const { releases } = heldBy(worker)
    const known = releases.get(key)
    known?.pop()?.()
    if (known?.length === 0) releases.delete(key)
  }
  /** Ends what is waited for, and returns what is held. */
  const end = (worker: WorkerId): Held["releases"] => {
    const held = byWorker.get(nameOf(worker))
    byWorker.delete(nameOf(worker))
    if (held === undefined) return new Map()
    held.isOver = true
    for (const fiber of held.waits) runFork(Fiber.interrupt(fiber))
    return held.releases
  }
  /** Takes back places that the worker has not heard of, and counts those that another owner has granted. */
  const toldBy = (worker: WorkerId, told: Told): void => {
    const held: Held = { releases: end(worker), waits: new Set(), isOver: false }
    byWorker.set(nameOf(worker), held)
    const places = new Map(told.map(([key, limit, count]) => [key, { limit, count }]))
    for (const [key, releases] of held.releases) {
      for (const release of releases.splice(places.get(key)?.count ?? 0)) release()
      if (releases.length === 0) held.releases.delete(key)
    }
    for (const [key, { count, limit }] of places) {
      for (let more = count - (held.releases.get(key)?.length ?? 0); more > 0; more -= 1) {
        const place = gate.enter(key, limit, 0)
        if (place._tag === "Free") note(held, key, place.release)
      }
    }
    expected.known(nameOf(worker))
  }
  const left = (worker: WorkerId): void => {
    ended.add(nameOf(worker))
    for (const releases of end(worker).values()) for (const release of releases) release()
    expected.known(nameOf(worker))
  }
  const stops = [
    serve(topics.take, (worker, body, answer) => expected.whenOpen(() => take(worker, body as Wanted, answer))),
    serve(topics.held, (worker, body) => toldBy(worker, body as Told)),
    serve(topics.give, (worker, key) => give(worker, String(key))),
    onLeft(left)
  ]
  yield* Effect.addFinalizer(() => Effect.sync(() => [...stops, () => expected.close()].forEach((stop) => stop())))
})

export const ownerLayer: Layer.Layer<never, never, ConcurrencyGate | Timers | WorkerLinks> =
  Layer.scopedDiscard(makeOwner)
