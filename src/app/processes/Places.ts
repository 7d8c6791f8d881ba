/**
 * Decides which processes of a gateway with workers are started, ended and replaced. Pure: events come in, steps go out; `Supervise` carries
 * them out. The owner is started first; workers when it serves. An ended process is replaced at once, and later and later when it ends soon again.
 */

/** Place of the owner; those of workers begin with 1. */
export const ownerPlace = 0

type Phase = "starting" | "serving" | "ending"

interface Process {
  readonly life: number
  readonly startedMs: number
  phase: Phase
}

interface Place {
  /** Lives of a place: the latest one, and those that end while it serves. */
  readonly processes: Map<number, Process>
  lastLife: number
  /** Ends in a row of processes that did not live long. */
  shortLives: number
}

export type Step =
  | { readonly _tag: "Start"; readonly place: number; readonly life: number; readonly afterMs: number }
  | { readonly _tag: "End"; readonly place: number; readonly life: number; readonly drainMs: number | null }
  /** To the owner: that worker's process is no more. */
  | { readonly _tag: "Left"; readonly place: number; readonly life: number }
  /** Everything serves, for the first time. */
  | { readonly _tag: "Up" }
  /** Nothing runs any more. `isFailure`: the gateway could not start, or a process did not end well. */
  | { readonly _tag: "Over"; readonly isFailure: boolean }

export type Event =
  | { readonly _tag: "Begin" }
  | { readonly _tag: "Ready"; readonly place: number; readonly life: number }
  | { readonly _tag: "Ended"; readonly place: number; readonly life: number }
  /** Every worker is to be replaced: the new one serves before the old one takes no more requests. */
  | { readonly _tag: "Renew" }
  /** The same, and the owner after them. From then on there are as many workers as it says. */
  | { readonly _tag: "Reload"; readonly workers: number }
  | { readonly _tag: "Stop" }

/** A process that lived so long did not fail to start, in milliseconds. */
export const longLifeMs = 10_000
export const firstPauseMs = 200
export const longestPauseMs = 10_000
/** Time for which a replaced worker may go on with its requests, in milliseconds. */
export const renewDrainMs = 3_600_000

const pauseMs = (shortLives: number): number =>
  shortLives <= 1 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(shortLives - 2, 10))

export class Places {
  readonly #places: Array<Place> = []
  /** Workers that are wanted: places above them are given up as their processes end. */
  #wanted = 0
  #isUp = false
  #isStopping = false
  #isFailure = false
  /** Ends of workers that no owner has heard of. */
  #unheard: Array<Step> = []
  /** The owner is replaced when every worker is. */
  #ownerIsNext = false

  constructor(workers: number) {
    this.#want(workers)
  }

  get isServing(): boolean {
    return this.#places
      .slice(0, this.#wanted + 1)
      .every((place) => [...place.processes.values()].some(({ phase }) => phase === "serving"))
  }

  /** Handles an event at a monotonic time. */
  on(event: Event, nowMs: number): ReadonlyArray<Step> {
    switch (event._tag) {
      case "Begin":
        return [this.#start(ownerPlace, nowMs, 0)]
      case "Ready":
        return this.#ready(event.place, event.life, nowMs)
      case "Ended":
        return this.#ended(event.place, event.life, nowMs)
      case "Renew":
        return this.#isUp && !this.#isStopping ? this.#renew(nowMs) : []
      case "Reload":
        if (!this.#isUp || this.#isStopping) return []
        this.#ownerIsNext = true
        this.#want(event.workers)
        return [...this.#renew(nowMs), ...this.#giveUp()]
      case "Stop":
        return this.#stop()
    }
  }

  #want(workers: number): void {
    this.#wanted = workers
    while (this.#places.length <= workers) this.#places.push({ processes: new Map(), lastLife: 0, shortLives: 0 })
  }

  /** Ends the processes of places that are not wanted any more; others serve meanwhile. */
  #giveUp(): ReadonlyArray<Step> {
    return this.#workers()
      .filter((worker) => worker > this.#wanted)
      .flatMap((worker) =>
        [...this.#at(worker).processes.values()]
          .filter(({ phase }) => phase !== "ending")
          .map((process) => this.#end(worker, process, renewDrainMs))
      )
  }

  #start(place: number, nowMs: number, afterMs: number): Step {
    const of = this.#at(place)
    const life = (of.lastLife += 1)
    of.processes.set(life, { life, startedMs: nowMs + afterMs, phase: "starting" })
    return { _tag: "Start", place, life, afterMs }
  }

  #at(place: number): Place {
    const found = this.#places[place]
    if (found === undefined) throw new RangeError(`There is no place ${place}.`)
    return found
  }

  #workers(): ReadonlyArray<number> {
    return this.#places.flatMap((_, place) => (place === ownerPlace ? [] : [place]))
  }

  #wantedWorkers(): ReadonlyArray<number> {
    return this.#workers().filter((worker) => worker <= this.#wanted)
  }

  #ready(place: number, life: number, nowMs: number): ReadonlyArray<Step> {
    const of = this.#at(place)
    const process = of.processes.get(life)
    if (process === undefined || process.phase !== "starting") return []
    process.phase = "serving"
    const steps: Array<Step> = []
    // Those it replaces.
    for (const other of of.processes.values()) {
      if (other.life === life || other.phase !== "serving") continue
      steps.push(this.#end(place, other, renewDrainMs))
    }
    if (place === ownerPlace) steps.push(...this.#unheard.splice(0))
    if (place === ownerPlace && !this.#isUp) {
      const waiting = this.#wantedWorkers().filter((worker) => this.#at(worker).processes.size === 0)
      steps.push(...waiting.map((worker) => this.#start(worker, nowMs, 0)))
    }
    if (!this.#isUp && this.isServing) {
      this.#isUp = true
      steps.push({ _tag: "Up" })
    }
    if (this.#ownerIsNext && place !== ownerPlace && this.#areRenewed()) {
      this.#ownerIsNext = false
      for (const owner of this.#at(ownerPlace).processes.values()) steps.push(this.#end(ownerPlace, owner, null))
    }
    return steps
  }

  #areRenewed(): boolean {
    return this.#wantedWorkers().every((worker) =>
      [...this.#at(worker).processes.values()].every(({ phase }) => phase !== "starting")
    )
  }

  #end(place: number, process: Process, drainMs: number | null): Step {
    process.phase = "ending"
    return { _tag: "End", place, life: process.life, drainMs }
  }

  #renew(nowMs: number): ReadonlyArray<Step> {
    return this.#wantedWorkers().flatMap((worker) => {
      const lives = [...this.#at(worker).processes.values()]
      return lives.some(({ phase }) => phase === "starting") ? [] : [this.#start(worker, nowMs, 0)]
    })
  }

  #ended(place: number, life: number, nowMs: number): ReadonlyArray<Step> {
    const of = this.#at(place)
    const process = of.processes.get(life)
    if (process === undefined) return []
    of.processes.delete(life)
    const steps = this.#left(place, life)
    if (!this.#isUp && !this.#isStopping) {
      // What did not start at all says why by itself; nothing is tried again.
      this.#isFailure = true
      return [...steps, ...this.#stop()]
    }
    if (this.#isStopping) return [...steps, ...this.#goOnStopping()]
    if (place > this.#wanted) return steps
    if (of.processes.size > 0 && process.phase === "ending") return steps
    if ([...of.processes.values()].some(({ phase }) => phase !== "ending")) return steps
    const wasLong = nowMs - process.startedMs >= longLifeMs || process.phase === "ending"
    of.shortLives = wasLong ? 0 : of.shortLives + 1
    return [...steps, this.#start(place, nowMs, pauseMs(of.shortLives))]
  }

  /** Tells the owner of the end of a worker's process, at the latest when there is one that serves. */
  #left(place: number, life: number): Array<Step> {
    if (place === ownerPlace) return []
    const left: Step = { _tag: "Left", place, life }
    const isHeard = [...this.#at(ownerPlace).processes.values()].some(({ phase }) => phase === "serving")
    if (!isHeard) this.#unheard.push(left)
    return isHeard ? [left] : []
  }

  #stop(): ReadonlyArray<Step> {
    if (this.#isStopping) return []
    this.#isStopping = true
    return this.#goOnStopping()
  }

  /** Ends the workers, and the owner after the last of them: it has their rows to write. */
  #goOnStopping(): ReadonlyArray<Step> {
    const left = this.#workers().flatMap((worker) =>
      [...this.#at(worker).processes.values()].map((process) => ({ worker, process }))
    )
    if (left.length > 0) {
      return left
        .filter(({ process }) => process.phase !== "ending")
        .map(({ process, worker }) => this.#end(worker, process, null))
    }
    const owners = [...this.#at(ownerPlace).processes.values()]
    if (owners.length > 0) {
      return owners.filter(({ phase }) => phase !== "ending").map((owner) => this.#end(ownerPlace, owner, null))
    }
    return [{ _tag: "Over", isFailure: this.#isFailure }]
  }
}
