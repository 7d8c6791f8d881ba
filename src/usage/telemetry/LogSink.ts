/**
 * Where log lines go. Lines are batched, because a system call per request costs more than the request log itself: at most 100 ms or
 * 64 KiB late, and all of them before the scope closes.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { AppConfig, type LogLevel, logLevels } from "../../platform/AppConfig.ts"
import { Timers } from "../../platform/Timers.ts"

export interface LogSinkShape {
  /** Takes one line without its line feed. Synchronous; never throws. */
  readonly write: (line: string) => void
  /** Whether lines of this level are wanted. */
  readonly takes: (level: "info" | "warn" | "error") => boolean
  /** Whether the output is a terminal, so that lines are written for people. */
  readonly interactive: boolean
}

export class LogSink extends Context.Tag("gateway/usage/LogSink")<LogSink, LogSinkShape>() {}

/** Lines wait this long, or until the batch has this size. */
export const flushAfterMs = 100
export const flushAtCharacters = 65_536

/** The part of a writable stream that the sink uses. */
export interface LogStream {
  readonly isTTY?: boolean
  readonly write: (text: string) => unknown
}

/** A buffered sink over a stream; closing the scope writes what is left. */
export const make = Effect.fnUntraced(function* (
  stream: LogStream,
  least: LogLevel = "info"
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
    stream.write(text)
  }
  const arm = () => {
    armed = true
    timers.after(flushAfterMs, () => {
      armed = false
      flush()
    })
  }
  yield* Effect.addFinalizer(() => Effect.sync(flush))

  return LogSink.of({
    interactive: stream.isTTY === true,
    takes: (level) => taken[level],
    write: (line) => {
      buffer += `${line}\n`
      if (buffer.length >= flushAtCharacters) flush()
      else if (!armed) arm()
    }
  })
})

/** Without a listener, a reader that goes away (`| head`) would end the whole process. */
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
    Effect.flatMap(AppConfig, ({ logLevel }) => make(process.stderr, logLevel))
  )
)
