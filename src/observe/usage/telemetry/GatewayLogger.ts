/** The program's own log lines on standard error, in the format of the request log. */
import * as Cause from "effect/Cause"
import * as FiberRef from "effect/FiberRef"
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as EffectLevel from "effect/LogLevel"
import * as Logger from "effect/Logger"
import { LocalTimes } from "../../../kernel/time/LocalTimes.ts"
import { harmlessJson, harmlessLines } from "../../../kernel/text/TerminalText.ts"
import type { LogLevel } from "../../../platform/AppConfig.ts"
import { type Colour, type LogStyle, painter } from "./LogStyle.ts"
import { clean } from "./Summary.ts"

const maxMessageLength = 2_000
const maxCauseLength = 8_000

const levelNames: Readonly<Record<string, string>> = { WARN: "warn", ERROR: "error", FATAL: "error", INFO: "info" }

const levelOf = ({ label }: EffectLevel.LogLevel): string => levelNames[label] ?? "debug"

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

const lineOf = (
  { annotations, cause, date, logLevel, message }: Logger.Logger.Options<unknown>,
  always: Readonly<Record<string, unknown>>
): Line => ({
  date,
  level: levelOf(logLevel),
  msg: clean(
    (Array.isArray(message) ? message : [message])
      .map((part) => worded(part).slice(0, maxMessageLength).replaceAll(/\s+/g, " "))
      .join(" "),
    maxMessageLength
  ),
  facts: { ...always, ...Object.fromEntries(HashMap.toEntries(annotations)) },
  cause: Cause.isEmpty(cause) ? null : Cause.pretty(cause).slice(0, maxCauseLength)
})

export const jsonOf = ({ cause, date, facts, level, msg }: Line): string =>
  harmlessJson({ time: date.toISOString(), level, msg, ...facts, ...(cause === null ? {} : { cause }) })

const levelColours: Readonly<Record<string, Colour>> = { debug: "dim", warn: "yellow", error: "red" }

/** A request that reached no handler, as the request log shows others. */
const refusalOf = ({ facts: { error, method, path, requestId, status }, msg }: Line): string | null =>
  msg === "request refused" && typeof status === "number"
    ? clean(`${status} ${worded(method)} ${worded(path)}  ${worded(error)} [${worded(requestId)}]`, maxMessageLength)
    : null

const wordsOf = (line: Line): string => {
  const refusal = refusalOf(line)
  if (refusal !== null) return refusal
  const known = Object.entries(line.facts).map(([name, value]) => `${name}=${worded(value)}`)
  return known.length === 0 ? line.msg : `${line.msg} (${clean(known.join(", "), maxMessageLength)})`
}

const makeTextOf = (style: LogStyle): ((line: Line) => string) => {
  const paint = painter(style)
  const times = new LocalTimes()
  return (line) => {
    const time = paint("dim", times.of(line.date.getTime()))
    const colour = levelColours[line.level]
    const level = colour === undefined ? "" : `${paint(colour, line.level.toUpperCase())} `
    const cause = line.cause === null ? "" : `\n${harmlessLines(line.cause)}`
    return `${time} ${level}${wordsOf(line)}${cause}`
  }
}

/** Lines go to `write`, each without its line feed. `always`: facts of every line. */
export const make = (
  style: LogStyle,
  write: (line: string) => void,
  always: Readonly<Record<string, unknown>> = {}
): Logger.Logger<unknown, void> => {
  const lineText = style.format === "text" ? makeTextOf(style) : jsonOf
  return Logger.make((options) => write(lineText(lineOf(options, always))))
}

const leastLevels: Readonly<Record<LogLevel, EffectLevel.LogLevel>> = {
  debug: EffectLevel.Debug,
  info: EffectLevel.Info,
  warn: EffectLevel.Warning,
  error: EffectLevel.Error,
  none: EffectLevel.None
}

/** Replaces every other logger, whichever were in use. */
export const layer = (logger: Logger.Logger<unknown, void>, least: LogLevel): Layer.Layer<never> =>
  Layer.merge(
    Layer.locallyScoped(FiberRef.currentLoggers, HashSet.make(logger)),
    Logger.minimumLogLevel(leastLevels[least])
  )
