/**
 * The end of the log: one stream that gets the lines of requests, which are written in batches, and the program's own lines, which are
 * written at once. Lines that wait go first, so that the order is that of the events.
 */
import * as Context from "effect/Context"

/** The part of a writable stream that is used. */
export interface LogStream {
  readonly isTTY?: boolean
  readonly write: (text: string) => unknown
}

const nothing = (): void => {}

export class LogOutput {
  readonly stream: LogStream
  #writeWaiting = nothing

  constructor(stream: LogStream) {
    this.stream = stream
  }

  /** Writes a line, given without its line feed. */
  readonly writeNow = (line: string): void => {
    this.#writeWaiting()
    this.stream.write(`${line}\n`)
  }

  /** `write` writes the lines of requests that wait. */
  attach(write: () => void): void {
    this.#writeWaiting = write
  }

  detach(): void {
    this.#writeWaiting = nothing
  }
}

/** Standard error. */
export class StandardError extends Context.Reference<StandardError>()("gateway/observe/usage/telemetry/StandardError", {
  defaultValue: () => new LogOutput(process.stderr)
}) {}
