/**
 * Asks a program for its version: always with `--version` alone, never by a shell, with a bounded time and output.
 */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { tmpdir } from "node:os"
import { startProblem } from "./ProgramFile.ts"

export const versionLimits = { timeoutMs: 5_000, outputBytes: 65_536 }

/** `problem`: why it could not be asked, or why its answer is none. */
export type Asked =
  | { readonly _tag: "Answered"; readonly text: string }
  | { readonly _tag: "Failed"; readonly problem: string }

const problemOf = (error: Error & { readonly code?: unknown; readonly killed?: boolean }): string => {
  if (error.killed === true) return `gave no version within ${versionLimits.timeoutMs / 1_000} seconds`
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "printed more than a version"
  return typeof error.code === "number" ? `ended with ${error.code}` : startProblem(error.code)
}

/** `file` is an absolute path. Its environment has nothing of the gateway's but what programs need to run. */
export const askVersion = (file: string, environment: Readonly<Record<string, string>>): Effect.Effect<Asked> =>
  Effect.async((resume) => {
    const child = execFile(
      file,
      ["--version"],
      {
        cwd: tmpdir(),
        env: environment,
        timeout: versionLimits.timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: versionLimits.outputBytes,
        windowsHide: true
      },
      (error, stdout, stderr) => {
        if (error !== null) resume(Effect.succeed({ _tag: "Failed", problem: problemOf(error) }))
        else resume(Effect.succeed({ _tag: "Answered", text: stdout.trim() === "" ? stderr : stdout }))
      }
    )
    child.stdin?.end()
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
