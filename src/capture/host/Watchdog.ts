/**
 * The process that takes changes of the machine back when the gateway is killed (`watchdog.mjs`). It runs while there are changes. It is
 * started again when it is killed itself.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Ran } from "./undo/run.mjs"

export interface WatchdogShape {
  /** Returns when it runs; fails with a sentence. */
  readonly begin: Effect.Effect<void, string>
  /** There is nothing left to take back: it ends. */
  readonly end: Effect.Effect<void>
  readonly run: (program: WatchedProgram) => Effect.Effect<Ran>
  /** Its process, null when it does not run. */
  readonly pid: () => number | null
}

export interface WatchedProgram {
  readonly argv: ReadonlyArray<string>
  readonly stdin?: string
  readonly timeoutMs?: number
  readonly elevate?: boolean
  readonly environment: Readonly<Record<string, string>>
}

const limits = { restarts: 5, running: 64, lineBytes: 2 * 1_048_576 }

const gone: Ran = { ok: false, problem: "the watchdog, which runs it, is not running", stdout: "" }

const script = (): string => fileURLToPath(new URL("./watchdog.mjs", import.meta.url))

interface Place {
  readonly folder: string
  readonly session: string
}

interface Running {
  readonly child: ChildProcess
  readonly waiting: Map<number, (ran: Ran) => void>
}

/** One process. `onExit` also runs when it could not be started. */
const start = (
  { folder, session }: Place,
  onStart: (problem: string | null) => void,
  onExit: (running: Running) => void
): Running => {
  const child = spawn(process.execPath, ["--max-old-space-size=64", script(), folder, session], {
    cwd: process.platform === "win32" ? undefined : "/",
    // A session of its own: neither the terminal nor a signal to the gateway's group ends it.
    detached: true,
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true
  })
  const waiting = new Map<number, (ran: Ran) => void>()
  const running = { child, waiting }
  child.once("spawn", () => onStart(null))
  child.once("error", (error) => {
    onStart(`The watchdog could not be started: ${error.message}.`)
    onExit(running)
  })
  child.once("exit", () => {
    for (const answer of waiting.values()) answer(gone)
    waiting.clear()
    onExit(running)
  })
  child.stdin.on("error", () => {
    // It has ended; `exit` says so.
  })
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, ...ran }: Ran & { readonly id: number } = JSON.parse(line)
    waiting.get(id)?.(ran)
    waiting.delete(id)
  })
  // It must not keep the gateway from ending.
  child.unref()
  for (const pipe of [child.stdin, child.stdout]) if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref()
  return running
}

export const make = (place: Place): Effect.Effect<WatchdogShape, never, Scope.Scope> =>
  Effect.gen(function* () {
    let current: Running | null = null
    let starting: Deferred.Deferred<void, string> | null = null
    let restarts = 0
    let lastId = 0

    const onExit = (ended: Running): void => {
      if (current !== ended) return
      current = null
      // Somebody ended it while changes are open.
      if (restarts < limits.restarts && ended.child.pid !== undefined) {
        restarts += 1
        current = start(place, () => {}, onExit)
      }
    }

    const begin = Effect.suspend(() => {
      if (starting !== null && current !== null) return Deferred.await(starting)
      const started = Deferred.unsafeMake<void, string>(Effect.runSync(Effect.fiberId))
      starting = started
      current = start(
        place,
        (problem) => Deferred.unsafeDone(started, problem === null ? Effect.void : Effect.fail(problem)),
        onExit
      )
      return Deferred.await(started)
    })

    const end = Effect.sync(() => {
      const ending = current
      current = null
      starting = null
      ending?.child.stdin?.end()
    })

    yield* Effect.addFinalizer(() => end)

    return {
      begin,
      end,
      pid: () => current?.child.pid ?? null,
      run: (program) =>
        Effect.async<Ran>((resume) => {
          const { child, waiting } = current ?? { child: null, waiting: new Map<number, (ran: Ran) => void>() }
          const line = JSON.stringify({ id: (lastId += 1), ...program })
          if (child === null || child.stdin?.writable !== true) return resume(Effect.succeed(gone))
          if (waiting.size >= limits.running || line.length > limits.lineBytes) {
            return resume(Effect.succeed({ ok: false, problem: "too much is run at once", stdout: "" }))
          }
          waiting.set(lastId, (ran) => resume(Effect.succeed(ran)))
          child.stdin.write(`${line}\n`)
        })
    }
  })
