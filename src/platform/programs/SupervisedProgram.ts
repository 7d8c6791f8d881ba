/**
 * Programs that run beside the gateway: started with an argument array, never by a shell, in a process group of their own; their output is
 * read by bounded lines; ended by force with their scope, and at the next start of the gateway when it could not do that itself.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { tmpdir } from "node:os"
import { endedWith, hasGroups, signalGroup } from "./ChildGroup.ts"
import { startedAt } from "./ProcessIdentity.ts"
import { startProblem } from "./ProgramFile.ts"
import { endLeftovers, markVariable, removeRecord, writeRecord } from "./ProgramRecords.ts"
import { Timers } from "../Timers.ts"

export interface ProgramOptions {
  /** Absolute path. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** All of its environment, but for a mark that is added. */
  readonly environment: Readonly<Record<string, string>>
  /** Text that it reads from its standard input, which then ends; null: none. */
  readonly input?: Redacted.Redacted | null
  /**
   * Each line of its output, without its end. Of a line longer than `maxLineChars` only the beginning is passed, and of more than
   * `maxLinesPerSecond` of one output the rest is dropped. Must not throw. Never called before `start` has returned its process, nor after `ended`.
   */
  readonly onLine: (line: string, source: "stdout" | "stderr") => void
}

export interface ProgramEnd {
  /** Null: ended by a signal. */
  readonly code: number | null
  /** Goes on from the program's name: "ended with 1". */
  readonly problem: string
  /** The last line that it wrote to standard error, cut; or empty. */
  readonly lastWords: string
}

export interface SupervisedProgram {
  readonly pid: number
  /** Waits until it has ended, and what it started with it. */
  readonly ended: Effect.Effect<ProgramEnd>
}

/** `problem` goes on from the program's name: "is not there". */
export class ProgramNotStarted extends Data.TaggedError("ProgramNotStarted")<{ readonly problem: string }> {}

export class SupervisedPrograms extends Context.Tag("gateway/platform/programs/SupervisedPrograms")<
  SupervisedPrograms,
  {
    /** SIGTERM, and a little later SIGKILL, to it and its group when the scope closes. */
    readonly start: (options: ProgramOptions) => Effect.Effect<SupervisedProgram, ProgramNotStarted, Scope.Scope>
  }
>() {}

export const programLimits = {
  maxLineChars: 4_096,
  maxLinesPerSecond: 2_000,
  lastWordsChars: 200,
  /** Times in ms from SIGTERM to SIGKILL, and from there to giving up. */
  askMs: 2_000,
  killMs: 1_000,
  /** Time in ms for which the rest in its pipe is read when it has ended. */
  restMs: 100
}

const lineFeed = 10

/** Splits bytes into lines and keeps only the beginning of long ones. Linear, with one line of memory. */
export const makeCuttingSplitter = (maxBytes: number, onLine: (line: string) => void) => {
  let pending: Array<Buffer> = []
  let pendingBytes = 0
  const keep = (part: Buffer): void => {
    const kept = part.subarray(0, maxBytes - pendingBytes)
    if (kept.length === 0) return
    // A copy: the part may be a small piece of a large buffer.
    pending.push(Buffer.from(kept))
    pendingBytes += kept.length
  }
  const flush = (): void => {
    const line = Buffer.concat(pending).toString("utf8")
    pending = []
    pendingBytes = 0
    onLine(line.endsWith("\r") ? line.slice(0, -1) : line)
  }
  return {
    take: (chunk: Buffer): void => {
      let at = 0
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, at)) {
        keep(chunk.subarray(at, end))
        at = end + 1
        flush()
      }
      keep(chunk.subarray(at))
    },
    /** The last line may have no end. */
    end: (): void => {
      if (pendingBytes > 0) flush()
    }
  }
}

const isPresent = <A>(value: A | null | undefined): value is A => value !== null && value !== undefined

/** True for as many calls per second as are allowed. */
const makeRate = (nowMs: () => number, mostPerSecond: number) => {
  let windowBegan = 0
  let count = 0
  return (): boolean => {
    const now = nowMs()
    if (now - windowBegan >= 1_000) {
      windowBegan = now
      count = 0
    }
    count += 1
    return count <= mostPerSecond
  }
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Deferred.Deferred<ProgramEnd>
  readonly mark: string
}

export interface SupervisedProgramsOptions {
  /** A folder of the gateway for the records of running programs; made when it is not there. */
  readonly recordsFolder: string
}

const services = Effect.all({ timers: Timers })
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly recordsFolder: string
}

const watch = ({ recordsFolder, timers }: Deps, { child, ended, mark }: Started, { onLine }: ProgramOptions): void => {
  let lastWords = ""
  let isOver = false
  const splitter = (source: "stdout" | "stderr") => {
    const isAllowed = makeRate(timers.monotonicMs, programLimits.maxLinesPerSecond)
    return makeCuttingSplitter(programLimits.maxLineChars, (line) => {
      if (source === "stderr" && line.trim() !== "") lastWords = line.trim().slice(0, programLimits.lastWordsChars)
      if (!isOver && isAllowed()) onLine(line, source)
    })
  }
  const outputs = (["stdout", "stderr"] as const).map((source) => {
    const lines = splitter(source)
    child[source]?.on("data", lines.take)
    return { lines, stream: child[source] }
  })
  const over = (code: number | null, problem: string): void => {
    if (isOver) return
    for (const { lines } of outputs) lines.end()
    isOver = true
    for (const { stream } of outputs) stream?.destroy()
    removeRecord(recordsFolder, mark)
    Deferred.unsafeDone(ended, Effect.succeed({ code, problem, lastWords }))
  }
  child.on("exit", (code, signal) => {
    // What it has started must not outlive it.
    if (hasGroups) signalGroup(child, "SIGKILL")
    const problem = endedWith(code, signal)
    const rest = timers.after(programLimits.restMs, () => over(code, problem))
    child.once("close", () => {
      rest.cancel()
      over(code, problem)
    })
  })
}

/** One step for the event loop: a kill of the gateway finds it not begun, or its record on file. */
const begin = ({ recordsFolder }: Deps, options: ProgramOptions): Started => {
  const mark = randomUUID()
  writeRecord(recordsFolder, mark, null)
  const child = spawn(options.command, options.args, {
    cwd: tmpdir(),
    env: { ...options.environment, [markVariable]: mark },
    stdio: [isPresent(options.input) ? "pipe" : "ignore", "pipe", "pipe"],
    shell: false,
    windowsHide: true,
    detached: hasGroups
  })
  const started = child.pid === undefined ? null : startedAt(child.pid)
  if (child.pid !== undefined && started !== null) {
    try {
      writeRecord(recordsFolder, mark, { pid: child.pid, startedAt: started })
    } catch (error) {
      signalGroup(child, "SIGKILL")
      throw error
    }
  }
  return { child, mark, ended: Deferred.unsafeMake(FiberId.none) }
}

const launch = (deps: Deps, options: ProgramOptions): Effect.Effect<Started, ProgramNotStarted> =>
  Effect.async((resume) => {
    const refused = (error: unknown): void => {
      const code = Predicate.hasProperty(error, "code") ? error.code : null
      resume(new ProgramNotStarted({ problem: startProblem(code) }))
    }
    try {
      const started = begin(deps, options)
      const { child, mark } = started
      child.on("error", (error) => {
        if (child.pid !== undefined) return
        removeRecord(deps.recordsFolder, mark)
        refused(error)
      })
      if (child.pid === undefined) return
      watch(deps, started, options)
      if (isPresent(options.input)) {
        child.stdin?.on("error", () => {
          // It does not read; its end shows why.
        })
        child.stdin?.end(Redacted.value(options.input))
      }
      resume(Effect.succeed(started))
    } catch (error) {
      refused(error)
    }
  })

/** Asks, then forces. Done when it is gone. */
const stop = ({ timers }: Deps, { child, ended }: Started): Effect.Effect<void> =>
  Effect.gen(function* () {
    // Its number may mean another process by now.
    if (yield* Deferred.isDone(ended)) return
    signalGroup(child, "SIGTERM")
    const force = timers.after(programLimits.askMs, () => signalGroup(child, "SIGKILL"))
    const giveUp = timers.after(programLimits.askMs + programLimits.killMs, () =>
      Deferred.unsafeDone(ended, Effect.succeed({ code: null, problem: "does not end", lastWords: "" }))
    )
    yield* Deferred.await(ended)
    force.cancel()
    giveUp.cancel()
  })

const start = (deps: Deps, options: ProgramOptions) =>
  Effect.acquireRelease(launch(deps, options), (running) => stop(deps, running)).pipe(
    Effect.map(({ child, ended }) => ({ pid: child.pid ?? 0, ended: Deferred.await(ended) })),
    Effect.withSpan("SupervisedPrograms.start")
  )

export const make = Effect.fn("SupervisedPrograms.make")(function* ({ recordsFolder }: SupervisedProgramsOptions) {
  const all = yield* services
  yield* endLeftovers(recordsFolder)
  const deps: Deps = { ...all, recordsFolder }

  return SupervisedPrograms.of({ start: (options) => start(deps, options) })
})

export const layer = (options: SupervisedProgramsOptions): Layer.Layer<SupervisedPrograms, never, Timers> =>
  Layer.effect(SupervisedPrograms, make(options))
