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
import type { RestoreReport } from "./undo/restore.mjs"
import type { Ran } from "./undo/run.mjs"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export interface WatchdogShape {
  /** Returns when it runs; fails with a sentence. */
  readonly begin: Effect.Effect<void, string>
  /** Ends it, when there is nothing left to undo. */
  readonly end: Effect.Effect<void>
  readonly run: (program: WatchedProgram) => Effect.Effect<Ran>
  /** Takes one entry of the journal back; null where it does not run. */
  readonly undo: (entryId: string) => Effect.Effect<RestoreReport | null>
  /** Returns the id of its process, null when it does not run. */
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

/** Answer of its process; null: it has ended. */
type Answer = (Ran & { readonly report?: undefined }) | { readonly report: RestoreReport } | null

interface Running {
  readonly child: ChildProcess
  readonly waiting: Map<number, (answer: Answer) => void>
}

/** Sets whether a pipe keeps this process from ending: while an answer is waited for. */
const keepAlive = (pipe: object | null, keeps: boolean): void => {
  const name = keeps ? "ref" : "unref"
  const change: unknown = pipe === null ? undefined : Reflect.get(pipe, name)
  if (pipe !== null && typeof change === "function") Reflect.apply(change, pipe, [])
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
  const waiting: Running["waiting"] = new Map()
  const running = { child, waiting }
  child.once("spawn", () => onStart(null))
  child.once("error", (error) => {
    onStart(`The watchdog could not be started: ${asSentence(error.message)}`)
    onExit(running)
  })
  child.once("exit", () => {
    for (const answer of waiting.values()) answer(null)
    waiting.clear()
    onExit(running)
  })
  child.stdin.on("error", () => {
    // It has ended; `exit` says so.
  })
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, ...answer }: Exclude<Answer, null> & { readonly id: number } = JSON.parse(line)
    waiting.get(id)?.(answer)
    waiting.delete(id)
    if (waiting.size === 0) keepAlive(child.stdout, false)
  })
  // It must not keep the gateway from ending.
  child.unref()
  keepAlive(child.stdin, false)
  keepAlive(child.stdout, false)
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
      // It was ended by another process while changes are open.
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
      ending?.child.stdin?.end(`${JSON.stringify({ end: true })}\n`)
    })

    yield* Effect.addFinalizer(() => end)

    const ask = (message: object) =>
      Effect.async<Answer>((resume) => {
        if (current === null) return resume(Effect.succeed(null))
        const { child, waiting } = current
        const id = (lastId += 1)
        const line = JSON.stringify({ id, ...message })
        if (child.stdin?.writable !== true || waiting.size >= limits.running || line.length > limits.lineBytes) {
          return resume(Effect.succeed(null))
        }
        waiting.set(id, (answer) => resume(Effect.succeed(answer)))
        keepAlive(child.stdout, true)
        child.stdin.write(`${line}\n`)
      })

    return {
      begin,
      end,
      pid: () => current?.child.pid ?? null,
      undo: (entryId) => Effect.map(ask({ undo: entryId }), (answer) => answer?.report ?? null),
      run: (program) =>
        Effect.map(ask(program), (answer) => (answer === null || answer.report !== undefined ? gone : answer))
    }
  })
