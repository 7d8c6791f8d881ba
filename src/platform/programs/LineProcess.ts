/**
 * A program that is spoken to by lines of its standard input and output. It is started with an argument array, never by a shell, in a process
 * group of its own, and ended with everything that it has started. Lines are bounded; what it writes to standard error is dropped but for its end.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { endedWith, hasGroups, signalGroup } from "./ChildGroup.ts"
import { startProblem } from "./ProgramFile.ts"
import type { Timer, Timers } from "../Timers.ts"

export interface LineProcessOptions {
  /** Absolute path. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>
  /** A longer line ends the program. */
  readonly maxLineBytes: number
  /** Receives a line. Never called before this module's function has returned, nor after `onEnd`. */
  readonly onLine: (line: string) => void
  /** Called once. `problem` goes on from the program's name: "ended with 1". `lastWords`: the last line of its standard error, or empty. */
  readonly onEnd: (problem: string, lastWords: string) => void
}

export interface LineProcess {
  /** False: it has ended, or does not read what it was sent. */
  readonly write: (line: string) => boolean
  /** Closes its input, asks it to end, and kills it in the end. Done when it is gone. */
  readonly stop: Effect.Effect<void>
}

const limits = {
  /** Most bytes sent and not yet read by the program. */
  unreadBytes: 16 * 1_048_576,
  lastWordsChars: 200,
  /** Time in ms from the closing of its input to the signals, and to giving up. */
  askMs: 300,
  killMs: 2_000,
  giveUpMs: 3_000,
  /** Time in ms for which the rest in its pipe is read when it has ended. */
  restMs: 100
}

const lineFeed = 10

/** Splits bytes into lines; false when one is too long. Linear: every byte is searched once. */
const makeSplitter = (maxLineBytes: number, onLine: (line: string) => void) => {
  let pending: Array<Buffer> = []
  let pendingBytes = 0
  return (chunk: Buffer): boolean => {
    let at = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, at)) {
      const part = chunk.subarray(at, end)
      at = end + 1
      if (pendingBytes + part.length > maxLineBytes) return false
      const line = pendingBytes === 0 ? part : Buffer.concat([...pending, part])
      pending = []
      pendingBytes = 0
      onLine(line.toString("utf8"))
    }
    const rest = chunk.subarray(at)
    if (rest.length === 0) return true
    pending.push(rest)
    pendingBytes += rest.length
    return pendingBytes <= maxLineBytes
  }
}

export const startLineProcess = (
  timers: Pick<typeof Timers.Service, "after">,
  { args, command, environment, maxLineBytes, onEnd, onLine }: LineProcessOptions
): LineProcess => {
  const child = spawn(command, args, {
    cwd: tmpdir(),
    env: environment,
    stdio: ["pipe", "pipe", "pipe"],
    shell: false,
    windowsHide: true,
    detached: hasGroups
  })
  let isOver = false
  let errors = ""
  let pending: ReadonlyArray<Timer> = []
  const waiting = new Set<() => void>()

  const kill = (signal: NodeJS.Signals): void => signalGroup(child, signal)

  const over = (problem: string): void => {
    if (isOver) return
    isOver = true
    for (const timer of pending) timer.cancel()
    // What it has started must not outlive it.
    kill("SIGKILL")
    child.stdout.destroy()
    child.stderr.destroy()
    onEnd(problem, errors.trim().split("\n").at(-1)?.trim().slice(0, limits.lastWordsChars) ?? "")
    for (const wake of waiting) wake()
    waiting.clear()
  }

  const split = makeSplitter(maxLineBytes, (line) => {
    if (!isOver) onLine(line)
  })
  child.stdout.on("data", (chunk: Buffer) => {
    if (!isOver && !split(chunk)) over(`sent a line of more than ${maxLineBytes} bytes`)
  })
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-10 * limits.lastWordsChars)
  })
  child.stdin.on("error", () => {
    // It has closed its input; its end shows why.
  })
  child.on("error", (error: NodeJS.ErrnoException) => over(startProblem(error.code)))
  child.on("exit", (code, signal) => {
    const problem = endedWith(code, signal)
    child.once("close", () => over(problem))
    pending = [...pending, timers.after(limits.restMs, () => over(problem))]
  })

  return {
    write: (line) => {
      if (isOver || !child.stdin.writable || child.stdin.writableLength > limits.unreadBytes) return false
      child.stdin.write(`${line}\n`)
      return true
    },
    stop: Effect.async<void>((resume) => {
      if (isOver) return resume(Effect.void)
      waiting.add(() => resume(Effect.void))
      child.stdin.end()
      pending = [
        ...pending,
        timers.after(limits.askMs, () => kill("SIGTERM")),
        timers.after(limits.killMs, () => kill("SIGKILL")),
        timers.after(limits.giveUpMs, () => over("does not end"))
      ]
    })
  }
}
