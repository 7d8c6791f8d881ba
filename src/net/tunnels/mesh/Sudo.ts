/**
 * Reads the output of `sudo`: https://www.sudo.ws/docs/man/sudo.man/. Its texts are those of the locale `C`, which the
 * programs are started with.
 */
import * as Redacted from "effect/Redacted"
import type { CommandResult } from "./Command.ts"

const mostPasswordChars = 1_024

/** Describes the problem of a password, as the end of a sentence; null: it can be passed to sudo. */
export const sudoPasswordProblem = (password: Redacted.Redacted): string | null => {
  const text = Redacted.value(password)
  if (text === "") return "is empty"
  if (text.length > mostPasswordChars) return `is longer than ${mostPasswordChars} characters`
  // sudo reads one line, and an input ends at the first of these.
  return /[\0\r\n]/.test(text) ? "has a line break or a zero byte" : null
}

/** Makes the arguments without a password, and without asking for one. */
export const withoutPassword = (program: string, args: ReadonlyArray<string>): ReadonlyArray<string> => [
  "-n",
  "--",
  program,
  ...args
]

/** Makes the arguments with a password on standard input, no prompt, and regardless of earlier permissions. */
export const withPassword = (program: string, args: ReadonlyArray<string>): ReadonlyArray<string> => [
  "-S",
  "-k",
  "-p",
  "",
  "--",
  program,
  ...args
]

export type SudoRefusal = "password-needed" | "wrong-password" | "not-allowed"

const sudoLine = (pattern: RegExp, { stderr }: CommandResult): boolean =>
  stderr.split("\n").some((line) => pattern.test(line.trim()))

/** Null: sudo has started the command. */
export const sudoRefusal = (result: CommandResult): SudoRefusal | null => {
  if (result.code === 0) return null
  if (sudoLine(/^sudo: .*(?:incorrect password attempt|no password was provided)|^Sorry, try again\.$/, result)) {
    return "wrong-password"
  }
  if (sudoLine(/^sudo: .*(?:password is required|a terminal is required|must have a tty)/, result))
    return "password-needed"
  return sudoLine(/is not in the sudoers file|is not allowed to (?:run|execute)|may not run sudo/, result)
    ? "not-allowed"
    : null
}

/** Checks whether a line is sudo's own: it has the reason of a failure. */
export const isSudoLine = (line: string): boolean => line.startsWith("sudo: ") || line.startsWith("Sorry, try again.")

export const refusalReason: Readonly<Record<SudoRefusal, string>> = {
  "password-needed": "This needs the rights of root: give the password that 'sudo' asks you for.",
  "wrong-password": "The password for 'sudo' is wrong. It was tried once.",
  "not-allowed": "The user of the gateway may not do this with 'sudo'."
}
