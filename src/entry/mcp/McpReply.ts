/** Answers of the MCP endpoint: one JSON text, or a stream of events while a call reports its progress. */
import type { ServerResponse } from "node:http"
import { identityHeaders } from "../../plane/request/Headers.ts"
import type { Timer, Timers } from "../../platform/Timers.ts"
import { errorMessage, refusalOf, type RefusedText } from "../../agents/mcp/protocol/JsonRpc.ts"
import type { Json, JsonObject } from "../../wire/json/Json.ts"

/** Proxies close connections on which nothing comes for a minute. */
const heartbeatMs = 15_000

export interface McpReply {
  readonly requestId: string
  /** Headers that every answer of this request has, as a flat list. */
  readonly also: (name: string, value: string) => void
  readonly json: (status: number, value: Json) => void
  readonly empty: (status: number) => void
  /** An error before any method was called, for each request of the body; null: the request has no body. */
  readonly refuse: (status: number, code: number, message: string, body: RefusedText | null) => void
  /** A message ahead of the answer; only to clients that read streams. */
  readonly send: (message: JsonObject) => void
  /** Begins a stream that has no answer; `end` ends it. */
  readonly stream: () => { readonly end: () => void }
}

const eventOf = (message: Json): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`

export const makeReply = (
  timers: Pick<typeof Timers.Service, "after">,
  response: ServerResponse,
  requestId: string,
  readsStreams: boolean
): McpReply => {
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

  const begin = (): void => {
    const headers = [...identityHeaders(requestId), ...more]
    headers.push("Content-Type", "text/event-stream", "Cache-Control", "no-cache, no-transform")
    response.writeHead(200, headers)
    beat()
  }

  const write = (status: number, body: string, headers: ReadonlyArray<string>): void => {
    if (isOver()) return
    response.writeHead(status, [...identityHeaders(requestId), ...more, ...headers])
    response.end(body)
  }

  const json = (status: number, value: Json): void => {
    if (response.headersSent) {
      if (!isOver()) response.end(eventOf(value))
      return
    }
    const body = JSON.stringify(value)
    write(status, body, ["Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(body))])
  }

  return {
    requestId,
    also: (name, value) => void more.push(name, value),
    json,
    empty: (status) => write(status, "", ["Content-Length", "0"]),
    refuse: (status, code, message, body) =>
      json(status, body === null ? errorMessage(null, { code, message }) : refusalOf(body, { code, message })),
    stream: () => {
      begin()
      response.flushHeaders()
      return {
        end: () => {
          if (!isOver()) response.end()
        }
      }
    },
    send: (message) => {
      if (!readsStreams || isOver()) return
      if (!response.headersSent) begin()
      response.write(eventOf(message))
    }
  }
}
