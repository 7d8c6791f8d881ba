/** Answers a request whose body has not been read whole, so that the client gets to see the answer. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Timers } from "../../platform/Timers.ts"

const mostDrainedMs = 2_000

/**
 * A socket that is closed with unread bytes is reset, and the reset can overtake the answer. So the answer is sent, this half of the
 * connection is closed, and what still comes is thrown away, for a bounded time.
 */
export const answerAndDrain = (
  { after }: typeof Timers.Service,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Array<string>,
  body: string
): void => {
  const hasBody = "transfer-encoding" in request.headers || Number(request.headers["content-length"] ?? 0) > 0
  if (request.complete || request.method !== "POST" || !hasBody) {
    response.writeHead(status, headers)
    response.end(body)
    return
  }
  response.writeHead(status, [...headers, "Connection", "close"])
  response.write(body)
  request.socket.end()
  const limit = after(mostDrainedMs, () => request.socket.destroy())
  const over = (): void => {
    limit.cancel()
    response.end()
  }
  request.once("end", over)
  request.once("close", over)
  request.on("error", () => {})
  request.resume()
}
