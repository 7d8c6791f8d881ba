/** Answers of the A2A endpoint: one JSON text, or a stream of events. */
import type { ServerResponse } from "node:http"
import { identityHeaders } from "../../plane/request/Headers.ts"
import { errorMessage, refusalOf, type RefusedText } from "../../agents/mcp/protocol/JsonRpc.ts"
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { Json, JsonObject } from "../../wire/json/Json.ts"

/** Proxies close connections on which nothing comes for a minute. */
const heartbeatMs = 15_000

export interface A2aReply {
  /** Headers that the answer has, too. */
  readonly also: (name: string, value: string) => void
  readonly json: (status: number, value: Json) => void
  readonly empty: (status: number) => void
  /** An error before any method was called, for each request of the body; null: the request has no body. */
  readonly refuse: (status: number, code: number, message: string, body: RefusedText | null) => void
  /** A message of a stream; the first one begins it. */
  readonly event: (message: JsonObject) => void
  readonly end: () => void
  /** The client has left before the answer was whole. */
  readonly onLeft: (run: () => void) => void
}

export const makeReply = (
  timers: Pick<typeof Timers.Service, "after">,
  response: ServerResponse,
  requestId: string
): A2aReply => {
  const more: Array<string> = []
  let heartbeat: Timer | null = null
  const isOver = (): boolean => response.writableEnded || response.destroyed

  const beat = (): void => {
    heartbeat = timers.after(heartbeatMs, () => {
      if (isOver()) return
      response.write(": \n\n")
      beat()
    })
  }
  response.once("close", () => heartbeat?.cancel())

  const write = (status: number, body: string, headers: ReadonlyArray<string>): void => {
    if (isOver()) return
    response.writeHead(status, [...identityHeaders(requestId), ...more, ...headers])
    response.end(body)
  }

  const json = (status: number, value: Json): void => {
    const body = JSON.stringify(value)
    write(status, body, ["Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(body))])
  }

  return {
    also: (name, value) => void more.push(name, value),
    json,
    empty: (status) => write(status, "", ["Content-Length", "0"]),
    refuse: (status, code, message, body) =>
      json(status, body === null ? errorMessage(null, { code, message }) : refusalOf(body, { code, message })),
    event: (message) => {
      if (isOver()) return
      if (!response.headersSent) {
        const headers = [...identityHeaders(requestId), ...more]
        headers.push("Content-Type", "text/event-stream", "Cache-Control", "no-cache, no-transform")
        response.writeHead(200, headers)
        beat()
      }
      response.write(`data: ${JSON.stringify(message)}\n\n`)
    },
    end: () => {
      if (!isOver()) response.end()
    },
    onLeft: (run) =>
      void response.once("close", () => {
        if (!response.writableFinished) run()
      })
  }
}
