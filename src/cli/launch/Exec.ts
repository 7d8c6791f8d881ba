/** Runs a program in the place of this one: its input, output and signals are this one's, and so is its end. Never by a shell. */
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { constants } from "node:os"

export type Ended =
  | { readonly _tag: "Exited"; readonly code: number }
  /** The program is not there, or may not be started. */
  | { readonly _tag: "NotStarted"; readonly code: string }

/** Passed on; Ctrl-C reaches the program by the terminal itself. */
const passed: ReadonlyArray<NodeJS.Signals> = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT"]

/** 128 and the number of the signal, as shells say it. */
const codeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal])

export const exec = (
  command: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Effect.Effect<Ended> =>
  Effect.async((resume) => {
    const child: ChildProcess = spawn(command, args, { stdio: "inherit", env: environment, shell: false })
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal)
    const ignore = (): void => {}
    for (const signal of passed) process.on(signal, forward)
    process.on("SIGINT", ignore)
    const over = (ended: Ended): void => {
      for (const signal of passed) process.off(signal, forward)
      process.off("SIGINT", ignore)
      resume(Effect.succeed(ended))
    }
    child.once("error", (error: NodeJS.ErrnoException) => over({ _tag: "NotStarted", code: error.code ?? "error" }))
    child.once("exit", (code, signal) => over({ _tag: "Exited", code: codeOf(code, signal) }))
    return Effect.async<void>((done) => {
      child.once("exit", () => done(Effect.void))
      child.kill("SIGTERM")
    })
  })
