/**
 * Failures of a command: a sentence for people on stderr, and an exit code for the script. 0 ok, 1 error, 2 bad
 * argument, 3 server offline, 4 authentication, 5 rate limit, 124 timeout, 130 stopped by Ctrl-C.
 */
import * as Cause from "effect/Cause"
import type { ConfigError } from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { configProblem } from "../platform/AppConfig.ts"
import { asSentence } from "../kernel/text/Sentence.ts"

interface FailureText {
  readonly message: string
  /** Advice on what to do next. */
  readonly hint?: string
}

/** The work could not be done. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<FailureText> {}
/** An argument is wrong. */
export class BadArgument extends Data.TaggedError("BadArgument")<FailureText> {}
/** No gateway answers at the address. */
export class ServerOffline extends Data.TaggedError("ServerOffline")<FailureText> {}
/** The gateway refused the credential. */
export class AuthRefused extends Data.TaggedError("AuthRefused")<FailureText> {}
/** The gateway refused the request because there were too many. */
export class RateLimited extends Data.TaggedError("RateLimited")<FailureText> {}
/** The gateway took too long. */
export class NoAnswerInTime extends Data.TaggedError("NoAnswerInTime")<FailureText> {}
/** The command has already printed what is wrong, as `doctor` does; only the exit code is left to say. */
export class AlreadyReported extends Data.TaggedError("AlreadyReported") {}

export type CliFailure =
  | CommandFailed
  | BadArgument
  | ServerOffline
  | AuthRefused
  | RateLimited
  | NoAnswerInTime
  | AlreadyReported

const cliTags: ReadonlySet<string> = new Set<CliFailure["_tag"]>([
  "CommandFailed",
  "BadArgument",
  "ServerOffline",
  "AuthRefused",
  "RateLimited",
  "NoAnswerInTime",
  "AlreadyReported"
])

/** Checks whether a failure is already written for the person at the command line. */
export const isCliFailure = <E extends { readonly _tag: string }>(error: E | CliFailure): error is CliFailure =>
  cliTags.has(error._tag)

const codes: Readonly<Record<string, number>> = {
  CommandFailed: 1,
  AlreadyReported: 1,
  BadArgument: 2,
  ServerOffline: 3,
  AuthRefused: 4,
  RateLimited: 5,
  NoAnswerInTime: 124,
  QuitException: 130
}

const codeOfError = (error: unknown): number => (Predicate.hasProperty(error, "_tag") && codes[String(error._tag)]) || 1

/** The process's exit code for the end of a command. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (Cause.isInterruptedOnly(exit.cause)) return codes["QuitException"] ?? 1
  return Option.match(Cause.failureOption(exit.cause), { onNone: () => 1, onSome: codeOfError })
}

const sentence = (error: unknown): string => {
  const words = error instanceof Error && error.message !== "" ? error.message : String(error)
  const hint = Predicate.hasProperty(error, "hint") && typeof error.hint === "string" ? `\n${error.hint}` : ""
  return `gateway: ${words}${hint}`
}

const silent: ReadonlySet<string> = new Set(["QuitException", "AlreadyReported"])

/** The text for stderr; null when there is nothing to add. A defect is a bug of ours and shows its stack. */
export const report = (cause: Cause.Cause<unknown>): string | null => {
  if (Cause.isInterruptedOnly(cause)) return null
  return Option.match(Cause.failureOption(cause), {
    onNone: () => `gateway: this is a fault of the program.\n${Cause.pretty(cause)}`,
    onSome: (error) => (Predicate.hasProperty(error, "_tag") && silent.has(String(error._tag)) ? null : sentence(error))
  })
}

export { configProblem }

/** Turns wrong variables into a failure that names them. */
export const wrongConfig = (error: ConfigError): Effect.Effect<never, CommandFailed> =>
  Effect.fail(
    new CommandFailed({
      message: `The configuration is wrong: ${asSentence(configProblem(error))}`,
      hint: "Correct the environment, or the value with 'gateway env set <name> <value>'."
    })
  )
