/** Runs a command as the process's main program: failures become one text on stderr and an exit code. */
import * as Runtime from "@effect/platform/Runtime"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { harmlessLines } from "../kernel/text/TerminalText.ts"
import { exitCode, report } from "./Failure.ts"

const runWith = <A, E>(run: Runtime.RunMain, command: Effect.Effect<A, E>, codeWhenStopped: 0 | 130): void =>
  run(
    Effect.tapErrorCause(command, (cause) => {
      const text = report(cause)
      return text === null ? Effect.void : Console.error(harmlessLines(text))
    }),
    {
      disableErrorReporting: true,
      disablePrettyLogger: true,
      teardown: (exit, onExit) => {
        const code = exitCode(exit)
        onExit(code === 130 ? codeWhenStopped : code)
      }
    }
  )

/** `codeWhenStopped` is the exit code after Ctrl-C or a request to terminate. */
export const runMain = <A, E>(command: Effect.Effect<A, E>, codeWhenStopped: 0 | 130): void =>
  runWith(NodeRuntime.runMain, command, codeWhenStopped)

/**
 * Runs the program of a process that another one has forked. Signals are for that one: a terminal and a service manager send them to all of a group,
 * and the first process ends the others in order.
 */
export const runSibling: typeof runMain = (command, codeWhenStopped) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {})
  runWith(
    Runtime.makeRunMain(({ fiber, teardown }) => {
      fiber.addObserver((exit) => teardown(exit, (code) => process.exit(code)))
    }),
    command,
    codeWhenStopped
  )
}
