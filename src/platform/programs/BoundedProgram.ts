/**
 * Runs a program to its end, with an argument list and never by a shell, in a process group of its own. Time and output are bounded: beyond
 * them it is ended with everything that it has started.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { hasGroups, signalGroup } from "./ChildGroup.ts"
import { startProblem } from "./ProgramFile.ts"
import type { Timers } from "../Timers.ts"

export interface BoundedProgramOptions {
  /** Absolute path. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly folder: string
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly input: string
  readonly timeoutMs: number
  /** Most bytes of standard output and standard error, each. */
  readonly outputBytes: number
}

export interface ProgramEnd {
  /** Null: it was ended by a signal. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Null: it ended by itself. Goes on from the program's name. */
  readonly problem: string | null
}

export const runProgram = (
  timers: Pick<typeof Timers.Service, "after">,
  { args, command, environment, folder, input, outputBytes, timeoutMs }: BoundedProgramOptions
): Effect.Effect<ProgramEnd> =>
  Effect.async((resume) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: environment,
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      windowsHide: true,
      detached: hasGroups
    })
    let problem: string | null = null
    const end = (reason: string): void => {
      problem ??= reason
      signalGroup(child, "SIGKILL")
    }
    const collected = (stream: NodeJS.ReadableStream): (() => string) => {
      const chunks: Array<Buffer> = []
      let bytes = 0
      stream.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > outputBytes) end(`printed more than ${outputBytes} bytes`)
        else chunks.push(chunk)
      })
      return () => Buffer.concat(chunks).toString("utf8")
    }
    const stdout = collected(child.stdout)
    const stderr = collected(child.stderr)
    const limit = timers.after(timeoutMs, () => end(`took longer than ${timeoutMs} ms`))
    // A program need not read what it is given.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
    const finish = (code: number | null): void => {
      limit.cancel()
      resume(Effect.succeed({ code, stdout: stdout(), stderr: stderr(), problem }))
    }
    child.once("error", (error: Error & { readonly code?: unknown }) => {
      problem ??= startProblem(error.code)
      if (child.pid === undefined) finish(null)
    })
    // Of the program itself: a child that holds its pipes must not hold up this.
    child.once("exit", (code) => {
      const rest = timers.after(100, () => {
        child.stdout.destroy()
        child.stderr.destroy()
      })
      child.once("close", () => {
        rest.cancel()
        finish(code)
      })
      // What it has started and left behind.
      signalGroup(child, "SIGKILL")
    })
    return Effect.sync(() => {
      limit.cancel()
      signalGroup(child, "SIGKILL")
    })
  })
