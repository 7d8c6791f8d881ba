/** Runs a command as the process's main program: failures become one text on stderr and an exit code. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { harmlessLines } from "../kernel/text/TerminalText.ts"
import { exitCode, report } from "./Failure.ts"

/** `codeWhenStopped` is the exit code after Ctrl-C or a request to terminate. */
export const runMain = <A, E>(command: Effect.Effect<A, E>, codeWhenStopped: 0 | 130): void =>
  NodeRuntime.runMain(
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
