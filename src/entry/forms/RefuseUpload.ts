/** Answers a request whose body has not been read whole, so that the client gets to see the answer. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Timers } from "../../platform/Timers.ts"

const mostDrainedMs = 2_000

/** Checks whether more of the body may come. */
export const isUnread = ({ complete, headers, method }: IncomingMessage): boolean =>
  !complete && method === "POST" && ("transfer-encoding" in headers || Number(headers["content-length"] ?? 0) > 0)

/**
 * A socket that is closed with unread bytes is reset, and the reset can overtake the answer. So when the answer is written, this half of
 * the connection is closed, and what still comes is thrown away, for a bounded time. The answer's head says `Connection: close`.
 */
export const drain = (
  { after }: Pick<typeof Timers.Service, "after">,
  request: IncomingMessage,
  response: ServerResponse
): void => {
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

export interface WholeAnswer {
  readonly status: number
  readonly headers: Array<string>
  readonly body: string
}

export const answerAndDrain = (
  timers: typeof Timers.Service,
  request: IncomingMessage,
  response: ServerResponse,
  { body, headers, status }: WholeAnswer
): void => {
  if (!isUnread(request)) {
    response.writeHead(status, headers)
    response.end(body)
    return
  }
  response.writeHead(status, [...headers, "Connection", "close"])
  response.write(body)
  drain(timers, request, response)
}
