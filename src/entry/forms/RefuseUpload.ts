/** Answers a request whose body has not been read whole, so that the client gets to see the answer. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Timers } from "../../platform/Timers.ts"
import { mayHaveBody, readAway } from "../listening/LingeringClose.ts"

/** Checks whether more of the body may come. */
export const isUnread = (request: IncomingMessage): boolean =>
  !request.complete && request.method === "POST" && mayHaveBody(request)

/** Ends an answer that is written, of which the head says `Connection: close`. */
export const drain = (
  { after }: Pick<typeof Timers.Service, "after">,
  request: IncomingMessage,
  response: ServerResponse
): void => readAway(after, request, () => response.end())

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
