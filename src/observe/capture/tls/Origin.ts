/** Destination of an intercepted connection, as the front that took it knows it. */
import type { Socket } from "node:net"
import type { CaptureSource } from "../CaptureSink.ts"

export interface Label {
  readonly source: CaptureSource
  /** The agent whose host it is; null where it is none's. */
  readonly agent: string | null
}

export interface Origin {
  /** The name the client asked for, where it asked by name (CONNECT); else the name in its hello counts. */
  readonly name: string | null
  /** The IP address the client connected to; null where only a name is known. */
  readonly address: string | null
  readonly port: number
  /** Makes a connection to the server. `name`: what the client called it, null when it did not. `done` runs once, never before this returns. */
  readonly dial: (name: string | null, done: (dialled: Dialled) => void) => void
  readonly labelOf: (name: string | null) => Label
}

/** The server was not reached, may not be reached, or its certificate is not good. The client gets `status` with `message`. */
export class DialFailed extends Error {
  readonly code: string
  readonly status: 400 | 403 | 502 | 504

  constructor(code: string, message: string, status: DialFailed["status"] = code === "ETIMEDOUT" ? 504 : 502) {
    super(message)
    this.code = code
    this.status = status
  }
}

/** A connected socket, or why there is none. */
export type Dialled = Socket | DialFailed

/**
 * Reads codes of OpenSSL and Node for connections that were not made; other errors are reported by their name alone.
 */
const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "UNKNOWN"

export const dialFailed = (cause: unknown, host: string): DialFailed => {
  if (cause instanceof DialFailed) return cause
  const code = codeOf(cause)
  return new DialFailed(code, `The connection to ${host} was not made: ${code}.`)
}
