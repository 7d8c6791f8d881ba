/**
 * Runs a gateway with workers: the first process, which people start, forks the owner and the workers, replaces those that end, and ends them in
 * order when it is stopped. `Places` decides; nothing of a request comes here.
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  fork,
  type ProcessRole,
  type Sibling,
  type ToFirst,
  type ToSibling,
  type WorkerProcess
} from "../../platform/programs/Siblings.ts"
import { make as timers } from "../../platform/Timers.ts"
import type { ListenFailed } from "../../entry/listening/Listener.ts"
import { probe } from "../../entry/relay/probe.ts"
import { type Event, ownerPlace, Places, type Step } from "./Places.ts"

export interface SuperviseOptions {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly workers: number
  /** Time in ms that a stop waits for running requests. */
  readonly drainMs: number
  /** Done before all processes are replaced: reads the settings file again, and returns how many workers there are to be from then on. */
  readonly beforeReload: (workers: number) => Effect.Effect<number>
  /** Run once, when all processes serve. */
  readonly up: (url: string) => Effect.Effect<void>
}

/** Time in ms that a process has to end after its drain, before it is killed. */
const graceMs = 15_000

/** A folder that only this user can enter. The names of sockets are short by law of the system, and a data folder's may not be. */
const socketFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

interface Process {
  readonly place: number
  readonly life: number
  readonly sibling: Sibling | null
  /** Epoch milliseconds at which it was started. */
  readonly startedMs: number
  readonly cancel: () => void
}

/** Workers whose processes run: one that waits for its start holds nothing. */
const workersOf = (processes: Iterable<Process>): ReadonlyArray<WorkerProcess> =>
  [...processes].flatMap(({ life, place, sibling, startedMs }) =>
    sibling === null || place === ownerPlace ? [] : [{ place, life, pid: sibling.pid, startedMs }]
  )

/** Carries the steps of `Places` out. */
class Driver {
  readonly #places: Places
  readonly #processes = new Map<string, Process>()
  #role: Pick<ProcessRole, "folder" | "port" | "workers">
  readonly #drainMs: number
  readonly #up: () => void
  readonly #over: (isFailure: boolean) => void
  readonly #log: (message: string) => void

  constructor(
    role: Pick<ProcessRole, "folder" | "port" | "workers">,
    drainMs: number,
    listeners: {
      readonly up: () => void
      readonly over: (isFailure: boolean) => void
      readonly log: (message: string) => void
    }
  ) {
    this.#places = new Places(role.workers)
    this.#role = role
    this.#drainMs = drainMs
    this.#up = listeners.up
    this.#over = listeners.over
    this.#log = listeners.log
  }

  get workers(): number {
    return this.#role.workers
  }

  on(event: Event): void {
    if (event._tag === "Reload") this.#role = { ...this.#role, workers: event.workers }
    for (const step of this.#places.on(event, timers.monotonicMs())) this.#do(step)
  }

  /** Kills what is left. */
  kill(): void {
    for (const { cancel, sibling } of this.#processes.values()) {
      cancel()
      sibling?.kill()
    }
  }

  #do(step: Step): void {
    switch (step._tag) {
      case "Start":
        return this.#start(step.place, step.life, step.afterMs)
      case "End":
        return this.#end(step.place, step.life, step.drainMs)
      case "Left":
        return this.#tellOwners({ type: "left", place: step.place, life: step.life })
      case "Up":
        for (const { sibling } of this.#processes.values()) sibling?.tell({ type: "up" })
        return this.#up()
      case "Over":
        return this.#over(step.isFailure)
    }
  }

  #tellOwners(message: ToSibling): void {
    for (const { place, sibling } of this.#processes.values()) if (place === ownerPlace) sibling?.tell(message)
  }

  #start(place: number, life: number, afterMs: number): void {
    const name = `${place}.${life}`
    const begin = (): void => {
      const sibling = fork(
        {
          ...this.#role,
          role: place === ownerPlace ? "owner" : "worker",
          place,
          life,
          running: workersOf(this.#processes.values())
        },
        {
          said: (message) => this.#said(place, life, message),
          ended: (code, signal) => this.#ended(place, life, code, signal)
        }
      )
      const process: Process = { place, life, sibling, startedMs: timers.nowMs(), cancel: () => {} }
      this.#processes.set(name, process)
      for (const worker of workersOf([process])) this.#tellOwners({ type: "joined", worker })
    }
    if (afterMs === 0) return begin()
    const timer = timers.after(afterMs, begin)
    this.#processes.set(name, { place, life, sibling: null, startedMs: 0, cancel: () => timer.cancel() })
  }

  #end(place: number, life: number, drainMs: number | null): void {
    const name = `${place}.${life}`
    const process = this.#processes.get(name)
    if (process === undefined) return
    if (process.sibling === null) {
      process.cancel()
      this.#processes.delete(name)
      return this.on({ _tag: "Ended", place, life })
    }
    const { sibling } = process
    sibling.tell({ type: "end", drainMs })
    const timer = timers.after((drainMs ?? this.#drainMs) + graceMs, () => sibling.kill())
    this.#processes.set(name, { ...process, cancel: () => timer.cancel() })
  }

  #said(place: number, life: number, message: ToFirst): void {
    switch (message.type) {
      case "ready":
        return this.on({ _tag: "Ready", place, life })
      case "stop":
        return this.on({ _tag: "Stop" })
      case "renew":
        return this.on({ _tag: "Renew" })
    }
  }

  #ended(place: number, life: number, code: number | null, signal: string | null): void {
    this.#processes.get(`${place}.${life}`)?.cancel()
    this.#processes.delete(`${place}.${life}`)
    if (code !== 0) {
      const who = place === ownerPlace ? "The owner of the data folder" : `Worker ${place}`
      this.#log(`${who} has ended (${signal ?? `exit code ${code}`}).`)
    }
    this.on({ _tag: "Ended", place, life })
  }
}

/** Signals for which the processes are replaced. */
const onReload = (reload: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => process.on("SIGHUP", reload)),
      () => Effect.sync(() => void process.off("SIGHUP", reload))
    )
  )

/** Runs until everything has ended: true when that was meant. */
export const supervise = ({
  beforeReload,
  drainMs,
  host,
  port,
  up,
  workers
}: SuperviseOptions): Effect.Effect<boolean, ListenFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const at = yield* probe(host, port)
      const folder = yield* socketFolder
      const runFork = Runtime.runFork(yield* Effect.runtime<never>())
      let done: (isFailure: boolean) => void = () => {}
      const over = new Promise<boolean>((resolve) => {
        done = resolve
      })
      const driver = new Driver({ folder, port: at.port, workers }, drainMs, {
        up: () => void runFork(up(at.url)),
        over: (isFailure) => done(isFailure),
        log: (message) => void runFork(Effect.logWarning(message))
      })
      const reload = Effect.map(
        Effect.suspend(() => beforeReload(driver.workers)),
        (next) => driver.on({ _tag: "Reload", workers: next })
      )
      yield* onReload(() => void runFork(reload))
      // A stop by a signal interrupts this; what runs is ended in order, and waited for.
      yield* Effect.addFinalizer(() =>
        Effect.zipRight(
          Effect.sync(() => driver.on({ _tag: "Stop" })),
          Effect.promise(() => over).pipe(
            Effect.interruptible,
            Effect.timeoutOption(drainMs * 2 + graceMs * 2),
            Effect.zipRight(Effect.sync(() => driver.kill()))
          )
        )
      )
      driver.on({ _tag: "Begin" })
      return !(yield* Effect.promise(() => over))
    })
  )
