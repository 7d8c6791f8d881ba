/** Programs that a plugin starts: by name or absolute path, with an argument list, never by a shell. */
import * as Effect from "effect/Effect"
import { mkdir } from "node:fs/promises"
import { isAbsolute } from "node:path"
import { runProgram } from "../../../../platform/programs/BoundedProgram.ts"
import { programEnvironment } from "../../../../platform/programs/ProgramEnvironment.ts"
import { isProgram } from "../../../../platform/programs/ProgramFile.ts"
import { findProgram } from "../../../../platform/programs/ProgramPath.ts"
import type { Timers } from "../../../../platform/Timers.ts"
import { isArray, type JsonObject } from "../../../../wire/json/Json.ts"
import { execLimits } from "../Limits.ts"
import { type HostRefusal, type HostResult, refusal } from "./HostCalls.ts"

const isArgument = (value: unknown): value is string =>
  typeof value === "string" && value.length <= execLimits.argChars && !value.includes("\0")

export const makeExec =
  (timers: Pick<typeof Timers.Service, "after">, environment: ReadonlyMap<string, string>, folder: string) =>
  ({ args, input, program }: JsonObject): Effect.Effect<HostResult, HostRefusal> =>
    Effect.gen(function* () {
      if (!isArgument(program) || program === "")
        return yield* refusal("exec: a program is missing", "EINVAL", "TypeError")
      if (!isArray(args) || args.length > execLimits.args || !args.every(isArgument)) {
        return yield* refusal(
          `exec: at most ${execLimits.args} arguments are taken, each a text`,
          "EINVAL",
          "TypeError"
        )
      }
      const isPath = /[/\\]/.test(program)
      const command = isPath
        ? isAbsolute(program) && isProgram(program)
          ? program
          : null
        : yield* findProgram(environment, program)
      if (command === null) return yield* refusal("ENOENT: there is no such program", "ENOENT")
      yield* Effect.promise(() => mkdir(folder, { recursive: true, mode: 0o700 }))
      const end = yield* runProgram(timers, {
        command,
        args,
        folder,
        environment: programEnvironment(environment),
        input: typeof input === "string" ? input : "",
        timeoutMs: execLimits.timeoutMs,
        outputBytes: execLimits.outputBytes
      })
      if (end.problem !== null) return yield* refusal(`The program ${end.problem}`, "ECHILD")
      return { value: { code: end.code, stdout: end.stdout, stderr: end.stderr }, blob: null }
    })
