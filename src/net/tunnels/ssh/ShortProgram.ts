/** Runs a program to its end for its output, within a time. */
import * as Effect from "effect/Effect"
import { type ProgramNotStarted, SupervisedPrograms } from "../../../platform/programs/SupervisedProgram.ts"

/** More lines are dropped. */
const mostLines = 200

export interface ShortProgram {
  /** Null: ended by a signal, or it took too long. */
  readonly code: number | null
  readonly lines: ReadonlyArray<string>
}

export const runToEnd = (
  command: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  timeoutMs: number
): Effect.Effect<ShortProgram, ProgramNotStarted, SupervisedPrograms> =>
  Effect.gen(function* () {
    const programs = yield* SupervisedPrograms
    const lines: Array<string> = []
    const { ended } = yield* programs.start({
      command,
      args,
      environment,
      onLine: (line, source) => {
        if (source === "stdout" && lines.length < mostLines) lines.push(line)
      }
    })
    const code = yield* Effect.timeoutTo(ended, {
      duration: timeoutMs,
      onSuccess: (end) => end.code,
      onTimeout: () => null
    })
    return { code, lines }
  }).pipe(Effect.scoped)
