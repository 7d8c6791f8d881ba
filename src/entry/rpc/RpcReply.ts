/** Answers of JSON-RPC over HTTP, for MCP and A2A: one JSON text, or a stream of events. */
import type { ServerResponse } from "node:http"
import type { Json, JsonObject } from "../../wire/json/Json.ts"
import { type RefusedText, errorMessage, refusalOf } from "../../agents/mcp/protocol/JsonRpc.ts"
import type { Timers, Timer } from "../../platform/Timers.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"

/** Proxies close connections on which nothing comes for a minute. */
const heartbeatMs = 15_000

export interface RpcReply {
  readonly requestId: string
  /** Headers that every answer of this request has, as a flat list. */
  readonly also: (name: string, value: string) => void
  /** The answer: a JSON text, or the last event of a stream that has begun. */
  readonly json: (status: number, value: Json) => void
  readonly empty: (status: number) => void
  /** An error before any method was called, for each request of the body; null: the request has no body. */
  readonly refuse: (status: number, code: number, message: string, body: RefusedText | null) => void
  /** A message of a stream, which the first one begins; only to clients that read streams. */
  readonly event: (message: JsonObject) => void
  /** Begins a stream that has no answer; `end` ends it. */
  readonly open: () => void
  readonly end: () => void
  /** The client has left before the answer was whole. */
  readonly onLeft: (run: () => void) => void
}

export interface ReplyForm {
  /** Name of the events of a stream; null: they have none. */
  readonly eventName: string | null
  /** The client reads streams. */
  readonly readsStreams: boolean
}

export const makeReply = (
  timers: Pick<typeof Timers.Service, "after">,
  response: ServerResponse,
  requestId: string,
  { eventName, readsStreams }: ReplyForm
): RpcReply => {
  const more: Array<string> = []
  let heartbeat: Timer | null = null
  const isOver = (): boolean => response.writableEnded || response.destroyed
  const eventOf = (message: Json): string =>
    `${eventName === null ? "" : `event: ${eventName}\n`}data: ${JSON.stringify(message)}\n\n`

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
    event: (message) => {
      if (!readsStreams || isOver()) return
      if (!response.headersSent) begin()
      response.write(eventOf(message))
    },
    open: () => {
      begin()
      response.flushHeaders()
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
