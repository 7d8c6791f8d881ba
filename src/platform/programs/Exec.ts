/** Runs a program in the place of this one: its input, output and signals are this one's, and so is its end. Never by a shell. */
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { constants } from "node:os"

export type Ended =
  | { readonly _tag: "Exited"; readonly code: number }
  /** The program is not there, or may not be started. */
  | { readonly _tag: "NotStarted"; readonly code: string }

const passed: ReadonlyArray<NodeJS.Signals> = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGWINCH",
  "SIGCONT"
]

/** Signals that a terminal sends to all programs in its foreground, so to the program, too. */
const ofTerminal: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGQUIT", "SIGWINCH"])

/** 128 and the number of the signal, as shells say it. */
const codeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal])

/**
 * Ends with the program alone: what would end this one, such as the signals that its main program listens to, is the program's to answer, and
 * reaches it once.
 */
export const exec = (
  command: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Effect.Effect<Ended> =>
  Effect.uninterruptible(
    Effect.async((resume) => {
      const child: ChildProcess = spawn(command, args, { stdio: "inherit", env: environment, shell: false })
      const forward = (signal: NodeJS.Signals): void => {
        if (!(process.stdin.isTTY && ofTerminal.has(signal))) child.kill(signal)
      }
      const others = passed.map((signal) => [signal, process.listeners(signal)] as const)
      for (const [signal, listeners] of others) {
        for (const listener of listeners) process.off(signal, listener)
        process.on(signal, forward)
      }
      const over = (ended: Ended): void => {
        for (const [signal, listeners] of others) {
          process.off(signal, forward)
          for (const listener of listeners) process.on(signal, listener)
        }
        resume(Effect.succeed(ended))
      }
      child.once("error", (error: NodeJS.ErrnoException) => over({ _tag: "NotStarted", code: error.code ?? "error" }))
      child.once("exit", (code, signal) => over({ _tag: "Exited", code: codeOf(code, signal) }))
    })
  )
