/**
 * Output of log lines. Lines are batched, because a system call per request costs more than the request log itself: at most 100 ms
 * or 64 KiB late, and all of them before the scope closes.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { AppConfig, type LogLevel, logLevels } from "../../../platform/AppConfig.ts"
import { Timers } from "../../../platform/Timers.ts"
import { type LogOutput, StandardError } from "./LogOutput.ts"
import { jsonStyle, type LogStyle, styleOf } from "./LogStyle.ts"

export interface LogSinkShape {
  /** Takes one line without its line feed. Synchronous; never throws. */
  readonly write: (line: string) => void
  /** Tells whether lines of this level are wanted. */
  readonly takes: (level: "info" | "warn" | "error") => boolean
  readonly style: LogStyle
}

export class LogSink extends Context.Tag("gateway/observe/usage/telemetry/LogSink")<LogSink, LogSinkShape>() {}

/** Lines wait this long, or until the batch has this size. */
export const flushAfterMs = 100
export const flushAtCharacters = 65_536

/** A buffered sink over an output; closing the scope writes what is left. */
export const make = Effect.fnUntraced(function* (
  output: LogOutput,
  least: LogLevel = "info",
  style: LogStyle = jsonStyle
): Effect.fn.Return<LogSinkShape, never, Timers | Scope.Scope> {
  const timers = yield* Timers
  const takes = (level: LogLevel): boolean => logLevels.indexOf(level) >= logLevels.indexOf(least)
  const taken = { info: takes("info"), warn: takes("warn"), error: takes("error") }
  let buffer = ""
  let armed = false

  const flush = () => {
    if (buffer === "") return
    const text = buffer
    buffer = ""
    output.stream.write(text)
  }
  const arm = () => {
    armed = true
    timers.after(flushAfterMs, () => {
      armed = false
      flush()
    })
  }
  output.attach(flush)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      flush()
      output.detach()
    })
  )

  return LogSink.of({
    style,
    takes: (level) => taken[level],
    write: (line) => {
      buffer += `${line}\n`
      if (buffer.length >= flushAtCharacters) flush()
      else if (!armed) arm()
    }
  })
})

/** Adds a listener for errors: without one, a reader that goes away (`| head`) would end the whole process. */
const ignoreBrokenPipe = Effect.acquireRelease(
  Effect.sync(() => {
    const ignore = () => {}
    process.stderr.on("error", ignore)
    return ignore
  }),
  (ignore) => Effect.sync(() => process.stderr.off("error", ignore))
)

/** Standard error. */
export const layer: Layer.Layer<LogSink, never, Timers | AppConfig> = Layer.scoped(
  LogSink,
  Effect.zipRight(
    ignoreBrokenPipe,
    Effect.flatMap(Effect.all([AppConfig, StandardError]), ([{ environment, logFormat, logLevel }, output]) =>
      make(output, logLevel, styleOf(logFormat, output.stream.isTTY === true, environment))
    )
  )
)
