/** One command of another program, run to its end: bounded in time and output, never by a shell. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { ProgramNotStarted, SupervisedPrograms } from "../../../platform/programs/SupervisedProgram.ts"

export interface Command {
  /** Absolute path. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** Text that it reads from its standard input; null: none. */
  readonly input: Redacted.Redacted | null
  readonly timeoutMs: number
  /**
   * Checks the lines: the program is stopped at the first for which this is true, as its further output is not needed.
   */
  readonly isEnough?: (line: string) => boolean
  readonly onLine?: (line: string) => void
}

export interface CommandResult {
  /** Null: it was stopped, or ended by a signal. */
  readonly code: number | null
  /** All of it up to a limit, without lines that were too long or too many. */
  readonly stdout: string
  readonly stderr: string
  /** Reason for which it was stopped; null: it has ended by itself. */
  readonly stoppedBy: "time" | "text" | null
}

export type RunCommand = (command: Command) => Effect.Effect<CommandResult, ProgramNotStarted>

/** Most characters of each output. A status in JSON has some kilobytes. */
export const mostOutputChars = 262_144

const makeText = () => {
  const lines: Array<string> = []
  let chars = 0
  return {
    add: (line: string): void => {
      if (chars + line.length > mostOutputChars) return
      chars += line.length + 1
      lines.push(line)
    },
    whole: (): string => lines.join("\n")
  }
}

/** `environment`: all of that of the programs. */
export const makeRunCommand =
  (programs: typeof SupervisedPrograms.Service, environment: Readonly<Record<string, string>>): RunCommand =>
  ({ args, input, isEnough, onLine, program, timeoutMs }) =>
    Effect.gen(function* () {
      const stdout = makeText()
      const stderr = makeText()
      const enough = yield* Deferred.make<void>()
      const started = yield* programs.start({
        command: program,
        args,
        environment,
        input,
        onLine: (line, source) => {
          if (source === "stdout") stdout.add(line)
          else stderr.add(line)
          onLine?.(line)
          if (isEnough?.(line) === true) Deferred.unsafeDone(enough, Effect.void)
        }
      })
      // Also where it is run by a finalizer, which cannot be interrupted: what loses a race has to be.
      const end = yield* Effect.interruptible(started.ended).pipe(
        Effect.map(({ code }) => ({ code, stoppedBy: null })),
        Effect.raceFirst(
          Effect.as(Effect.interruptible(Deferred.await(enough)), { code: null, stoppedBy: "text" as const })
        ),
        Effect.interruptible,
        Effect.timeoutTo({
          duration: timeoutMs,
          onSuccess: (value) => value,
          onTimeout: () => ({ code: null, stoppedBy: "time" as const })
        })
      )
      return { ...end, stdout: stdout.whole(), stderr: stderr.whole() }
    }).pipe(Effect.scoped)
