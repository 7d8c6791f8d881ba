/** Warnings of services that run inside a command: words on standard error, as the command's own remarks are. */
import * as Cause from "effect/Cause"
import * as LogLevel from "effect/LogLevel"
import * as Logger from "effect/Logger"
import { harmless } from "../kernel/text/TerminalText.ts"

const maxCharacters = 2_000

const worded = (part: unknown): string => (part instanceof Error ? part.message : String(part))

export const commandLogger: Logger.Logger<unknown, void> = Logger.make(({ cause, logLevel, message }) => {
  if (LogLevel.lessThan(logLevel, LogLevel.Warning)) return
  const words = (Array.isArray(message) ? message : [message]).map(worded)
  if (!Cause.isEmpty(cause)) words.push(Cause.pretty(cause).split("\n", 1)[0] ?? "")
  const text = words.join(" ").slice(0, maxCharacters).replaceAll(/\s+/g, " ")
  const label = LogLevel.greaterThanEqual(logLevel, LogLevel.Error) ? "error" : "warning"
  process.stderr.write(`gateway: ${label}: ${harmless(text)}\n`)
})
