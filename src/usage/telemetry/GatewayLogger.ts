/** The program's own log lines on standard error, in the format of the request log: JSON, or plain text at a terminal. */
import * as Cause from "effect/Cause"
import * as HashMap from "effect/HashMap"
import type * as LogLevel from "effect/LogLevel"
import * as Logger from "effect/Logger"
import { clean } from "./Summary.ts"

const maxMessageLength = 2_000
const maxCauseLength = 8_000

const levelNames: Readonly<Record<string, string>> = { WARN: "warn", ERROR: "error", FATAL: "error", INFO: "info" }

const levelOf = ({ label }: LogLevel.LogLevel): string => levelNames[label] ?? "debug"

const worded = (part: unknown): string => {
  if (typeof part === "string") return part
  return part instanceof Error ? part.message : (JSON.stringify(part) ?? String(part))
}

interface Line {
  readonly date: Date
  readonly level: string
  readonly msg: string
  readonly facts: Readonly<Record<string, unknown>>
  readonly cause: string | null
}

const lineOf = ({ annotations, cause, date, logLevel, message }: Logger.Logger.Options<unknown>): Line => ({
  date,
  level: levelOf(logLevel),
  msg: clean(
    (Array.isArray(message) ? message : [message])
      .map((part) => worded(part).slice(0, maxMessageLength).replaceAll(/\s+/g, " "))
      .join(" "),
    maxMessageLength
  ),
  facts: Object.fromEntries(HashMap.toEntries(annotations)),
  cause: Cause.isEmpty(cause) ? null : Cause.pretty(cause).slice(0, maxCauseLength)
})

export const jsonOf = ({ cause, date, facts, level, msg }: Line): string =>
  JSON.stringify({ time: date.toISOString(), level, msg, ...facts, ...(cause === null ? {} : { cause }) })

export const textOf = ({ cause, date, facts, level, msg }: Line): string => {
  const known = Object.entries(facts).map(([name, value]) => `${name}=${worded(value)}`)
  const more = known.length === 0 ? "" : ` (${clean(known.join(", "), maxMessageLength)})`
  return `${date.toISOString().slice(11, 23)} ${level.toUpperCase()} ${msg}${more}${cause === null ? "" : `\n${cause}`}`
}

/** Lines go to `write`, each without its line feed. */
export const make = (interactive: boolean, write: (line: string) => void): Logger.Logger<unknown, void> =>
  Logger.make((options) => write((interactive ? textOf : jsonOf)(lineOf(options))))
