/**
 * Closes a connection whose request was answered before all of its body came. A socket that is closed with unread bytes is reset, and the
 * reset can overtake the answer: the client would see a broken connection where it was told what is wrong.
 */
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"

/** Runs `run` after `delayMs`, unless it is cancelled. */
export type After = (delayMs: number, run: () => void) => { readonly cancel: () => void }

/** Time in ms in which a client that is still sending may read its answer. */
export const lingerMs = 2_000

export const mayHaveBody = ({ headers }: IncomingMessage): boolean =>
  "transfer-encoding" in headers || Number(headers["content-length"] ?? 0) > 0

/** Throws away what still comes of the body, for a bounded time, and calls `over` once. This half of the connection is closed at once. */
export const readAway = (after: After, request: IncomingMessage, over: () => void): void => {
  const { socket } = request
  socket.end()
  const limit = after(lingerMs, () => socket.destroy())
  const isOver = (): void => {
    limit.cancel()
    over()
  }
  request.once("close", isOver)
  request.on("error", () => {})
  request.resume()
}

/**
 * Makes the connection of a request that is its last one end so. Node ends it by `destroySoon` once the answer is written, whatever of the
 * body is still to come.
 */
export const lingerAfterAnswer = (after: After, request: IncomingMessage): void => {
  const { socket } = request
  const destroySoon = socket.destroySoon.bind(socket)
  socket.destroySoon = function (this: Socket) {
    if (request.complete || socket.destroyed) destroySoon()
    else readAway(after, request, destroySoon)
  }
}
