/**
 * Ends requests whose body stopped coming. A limit on the whole time, as node's `requestTimeout`, would end a large upload on a slow line;
 * here a body may take as long as it wants while at least some of it comes in every window of time.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

export interface StallLimits {
  /** Length of a window in ms; in each one `leastBytes` have to come, or the end. */
  readonly windowMs: number
  readonly leastBytes: number
  readonly sweepMs: number
}

export const stallLimits: StallLimits = { windowMs: 60_000, leastBytes: 1_024, sweepMs: 15_000 }

interface WatchedConnection {
  request: IncomingMessage | null
  response: ServerResponse | null
  /** The request that the window is of. */
  watched: IncomingMessage | null
  sinceMs: number
  bytesRead: number
}

const answerOf = (windowMs: number): string => {
  const message = `Almost nothing of the request's body came for ${Math.round(windowMs / 1000)} seconds. Send it again.`
  const body = JSON.stringify({ error: { message, type: "invalid_request_error", code: "request_timeout" } })
  return [
    "HTTP/1.1 408 Request Timeout",
    "Connection: close",
    "X-Content-Type-Options: nosniff",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body
  ].join("\r\n")
}

export class StalledBodies {
  readonly #limits: StallLimits
  readonly #connections = new Map<Socket, WatchedConnection>()

  constructor(limits: StallLimits) {
    this.#limits = limits
  }

  opened(socket: Socket): void {
    this.#connections.set(socket, { request: null, response: null, watched: null, sinceMs: 0, bytesRead: 0 })
    socket.on("close", () => this.#connections.delete(socket))
  }

  /** Hot: one look-up; all else is done by the sweep. */
  begins(request: IncomingMessage, response: ServerResponse): void {
    const seen = this.#connections.get(request.socket)
    if (seen === undefined) return
    seen.request = request
    seen.response = response
  }

  /** `nowMs` is of a clock that never goes back. */
  sweep(nowMs: number): void {
    for (const [socket, seen] of this.#connections) {
      const { request } = seen
      if (request === null) continue
      if (request.complete) {
        seen.request = seen.response = seen.watched = null
        continue
      }
      const isComing = socket.bytesRead - seen.bytesRead >= this.#limits.leastBytes
      // Where the gateway itself does not read, for a while or yet, the client is not to blame.
      if (seen.watched !== request || isComing || request.readableFlowing !== true) {
        seen.watched = request
        seen.sinceMs = nowMs
        seen.bytesRead = socket.bytesRead
      } else if (nowMs - seen.sinceMs >= this.#limits.windowMs) this.#end(socket, seen.response)
    }
  }

  #end(socket: Socket, response: ServerResponse | null): void {
    this.#connections.delete(socket)
    if (response?.headersSent !== false) return void socket.destroy()
    socket.write(answerOf(this.#limits.windowMs))
    socket.destroySoon()
  }
}
