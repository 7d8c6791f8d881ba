/** Runs commands that only root may run: as root, by `sudo` without a password, or by a password that is used once. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { findProgram, programEnvironment } from "./HostPrograms.ts"
import type { HostJournal, Ran } from "./HostJournal.ts"
import { runProgram } from "./undo/run.mjs"

export type Privilege = "root" | "sudo" | "password" | "none"

type Environment = ReadonlyMap<string, string>

/** Finds the available privilege; `password` when one is given and `sudo` is there. */
export const privilegeOf = (environment: Environment, hasPassword: boolean): Effect.Effect<Privilege> =>
  Effect.gen(function* () {
    if (process.getuid === undefined || process.getuid() === 0) return "root"
    const sudo = findProgram(environment, "sudo")
    if (sudo === null) return "none"
    const asked = yield* Effect.promise(() =>
      runProgram([sudo, "-n", "--", "/bin/true"], { environment: programEnvironment(environment) })
    )
    if (asked.ok) return "sudo"
    return hasPassword ? "password" : "none"
  })

export interface PrivilegedRun {
  readonly argv: ReadonlyArray<string>
  readonly timeoutMs: number
  /** Ignored where it is not needed. It goes to the input of one `sudo` and nowhere else. */
  readonly sudoPassword: Redacted.Redacted | null
}

/** Line ends would answer sudo's second question with the rest. */
const isUsable = (password: string): boolean => password.length <= 1_024 && !/[\r\n\0]/u.test(password)

/** Runs one command by the journal's watchdog. Says in the result what is missing. */
export const runPrivileged = (
  journal: typeof HostJournal.Service,
  environment: Environment,
  { argv, sudoPassword, timeoutMs }: PrivilegedRun
): Effect.Effect<Ran> =>
  Effect.gen(function* () {
    const privilege = yield* privilegeOf(environment, sudoPassword !== null)
    if (privilege === "root") return yield* journal.run({ argv, timeoutMs })
    if (privilege === "sudo") return yield* journal.run({ argv, timeoutMs, elevate: true })
    const sudo = findProgram(environment, "sudo")
    if (privilege === "none" || sudo === null || sudoPassword === null) {
      return { ok: false, problem: "this needs the rights of root, or a password for sudo", stdout: "" }
    }
    const password = Redacted.value(sudoPassword)
    if (!isUsable(password)) return { ok: false, problem: "the password cannot be one for sudo", stdout: "" }
    // `-k`: a password that sudo remembers must not hide that this one is wrong. `-p ''`: no prompt in the messages.
    const ran = yield* journal.run({
      argv: [sudo, "-S", "-k", "-p", "", "--", ...argv],
      stdin: `${password}\n`,
      timeoutMs
    })
    if (ran.ok || password === "") return ran
    return { ok: false, problem: ran.problem.replaceAll(password, "***"), stdout: "" }
  })
