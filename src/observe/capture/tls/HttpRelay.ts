/**
 * Passes requests on to the server and answers back, as they are, with back-pressure. What goes by is copied for the record up to a bound.
 * A failure before the server was reached is a 502; what breaks later breaks for the client as well, as it would without us.
 */
import { type Agent, type ClientRequest, type IncomingMessage, request as ask, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { CapturedRequest, RawHeaders } from "../CaptureSink.ts"
import { Exchange, type Recording } from "./Exchange.ts"
import { DialFailed } from "./Origin.ts"
import { announcesBody, setAll, trailerPairs, valueOf, without } from "./RelayedHeaders.ts"
import { WebSocketText } from "./WebSocketText.ts"

export interface Destination {
  readonly agent: Agent
  /** Host by which the agent distinguishes servers. */
  readonly host: string
  readonly port: number
  readonly path: string
  readonly headers: RawHeaders
  /** The headers of the answer that the client gets. */
  readonly answerHeaders: (headers: RawHeaders) => Array<string>
  readonly record: Omit<CapturedRequest, "startedAtMs" | "headers" | "method" | "httpVersion">
  /** A request has begun, and is over. */
  readonly begun: () => void
  readonly over: () => void
}

export const maxHeadBytes = 64 * 1024

/** A frame that is compressed cannot be read, so no extension is agreed on. */
const unreadableUpgrade = new Set(["sec-websocket-extensions"])

const errorOf = (cause: unknown): { readonly code: string; readonly message: string } => {
  if (cause instanceof DialFailed) return { code: cause.code, message: cause.message }
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "ECONNRESET"
  return { code, message: `The connection to the server broke: ${code}.` }
}

const clientLeft = { code: "ECONNABORTED", message: "The client left before the answer was complete." }

const refuse = (response: ServerResponse, message: string, status: number = 502): void => {
  const body = `${message}\n`
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    connection: "close"
  })
  response.end(body)
}

/** Ends a response for a server that failed: with a 5xx where nothing has been sent and the server was never reached, else abruptly. */
const failResponse = (response: ServerResponse, cause: unknown): void => {
  if (cause instanceof DialFailed && !response.headersSent) refuse(response, cause.message, cause.status)
  else response.destroy()
}

const passAnswer = (
  { soon }: Pick<Recording["timers"], "soon">,
  answer: IncomingMessage,
  response: ServerResponse,
  { answerHeaders }: Pick<Destination, "answerHeaders">,
  exchange: Exchange
): void => {
  exchange.answered(answer.statusCode ?? 0, answer.rawHeaders)
  response.sendDate = false
  response.removeHeader("connection")
  try {
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage ?? "", answerHeaders(answer.rawHeaders))
  } catch {
    answer.destroy()
    refuse(response, "The server's answer has a head that cannot be passed on.")
    exchange.end({ code: "HPE_INVALID_HEADER_TOKEN", message: "The answer's head cannot be passed on." })
    return
  }
  answer
    .on("data", (chunk: Buffer) => exchange.responseBody.add(chunk))
    .on("error", (error) => {
      exchange.end(errorOf(error))
      response.destroy()
    })
    .on("end", () => {
      if (answer.rawTrailers.length > 0) response.addTrailers(trailerPairs(answer.rawTrailers))
    })
  answer.pipe(response)
  // The head goes with the first of the body where that is there already, else alone: a stream's may be long in coming.
  soon(() => {
    if (!response.headersSent || response.writableEnded) return
    response.flushHeaders()
  })
}

const recordOf = (request: IncomingMessage, record: Destination["record"]): Omit<CapturedRequest, "startedAtMs"> => ({
  ...record,
  method: request.method ?? "GET",
  httpVersion: `HTTP/${request.httpVersion}`,
  headers: request.rawHeaders
})

const begin = (method: string, { agent, host, path, port }: Destination): ClientRequest =>
  ask({ agent, host, port, method, path, setHost: false, maxHeaderSize: maxHeadBytes })

/** One request and its answer. */
export const relay = (
  recording: Recording,
  request: IncomingMessage,
  response: ServerResponse,
  to: Destination
): void => {
  const method = request.method ?? "GET"
  const exchange = new Exchange(recording, recordOf(request, to.record))
  to.begun()
  let asked: ClientRequest
  try {
    asked = begin(method, to)
    setAll(asked, to.headers)
  } catch {
    to.over()
    refuse(response, "The request has a head that cannot be passed on.")
    exchange.end({ code: "ERR_INVALID_CHAR", message: "The request's head cannot be passed on." })
    return
  }
  response.once("close", () => {
    to.over()
    if (response.writableFinished) return exchange.end(null)
    exchange.end(clientLeft)
    asked.destroy()
  })
  asked
    .once("socket", () => exchange.sent())
    .once("response", (answer) => passAnswer(recording.timers, answer, response, to, exchange))
    .on("continue", () => response.writeContinue())
    .on("error", (error) => {
      if (response.writableFinished) return
      exchange.end(errorOf(error))
      failResponse(response, error)
    })
  if (valueOf(to.headers, "expect") !== null) asked.flushHeaders()
  if (!announcesBody(request.rawHeaders)) {
    asked.end()
    return
  }
  request
    .on("data", (chunk: Buffer) => exchange.requestBody.add(chunk))
    .on("end", () => {
      if (request.rawTrailers.length > 0) asked.addTrailers(trailerPairs(request.rawTrailers))
    })
    .on("error", () => asked.destroy())
  request.pipe(asked)
}

const headText = (answer: IncomingMessage): string => {
  const lines = trailerPairs(answer.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${lines.join("")}\r\n`
}

const isWebSocket = ({ headers: { upgrade } }: IncomingMessage): boolean => upgrade?.toLowerCase() === "websocket"

const upgradeRequired = 426

/** Answers a request for another protocol so that its client goes on with HTTP (RFC 9110, 15.5.22). The server is not asked. */
export const refuseUpgrade = (
  recording: Recording,
  request: IncomingMessage,
  { record }: Pick<Destination, "record">
): void => {
  const { socket } = request
  const exchange = new Exchange(recording, recordOf(request, record))
  exchange.answered(upgradeRequired, ["upgrade", "HTTP/1.1", "connection", "close", "content-length", "0"])
  // The server has taken its own listeners off.
  socket.on("error", () => socket.destroy())
  socket.end("HTTP/1.1 426 Upgrade Required\r\nupgrade: HTTP/1.1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
  exchange.end(null)
}

/** A request for another protocol (WebSocket): when the server agrees, the two sockets are joined. */
export const relayUpgrade = (
  recording: Recording,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  to: Destination
): void => {
  const method = request.method ?? "GET"
  const { scheme } = to.record
  const protocol = isWebSocket(request) ? (scheme === "https" ? "wss" : "ws") : scheme
  const exchange = new Exchange(recording, recordOf(request, { ...to.record, scheme: protocol }))
  to.begun()
  let isOver = false
  let isJoined = false
  const over = (): void => {
    if (isOver) return
    isOver = true
    to.over()
  }
  const fail = (cause: unknown): void => {
    if (isOver) return
    over()
    exchange.end(errorOf(cause))
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.once("finish", () => socket.destroySoon())
    failResponse(response, cause)
  }
  let asked: ClientRequest
  try {
    asked = begin(method, to)
    setAll(asked, without(to.headers, unreadableUpgrade))
  } catch (cause) {
    fail(cause)
    return
  }
  // The server has taken its own listeners off.
  socket.on("error", () => socket.destroy())
  socket.once("close", () => {
    over()
    if (isJoined) return
    exchange.end(clientLeft)
    asked.destroy()
  })
  asked
    .once("socket", () => exchange.sent())
    .on("error", fail)
    .once("response", (answer) => {
      const response = new ServerResponse(request)
      response.assignSocket(socket)
      response.shouldKeepAlive = false
      response.once("finish", () => {
        over()
        exchange.end(null)
        socket.destroySoon()
      })
      passAnswer(recording.timers, answer, response, to, exchange)
    })
    .once("upgrade", (answer, server, early) => {
      isJoined = true
      exchange.answered(answer.statusCode ?? 101, answer.rawHeaders)
      socket.write(headText(answer), "latin1")
      if (early.length > 0) server.unshift(early)
      if (head.length > 0) socket.unshift(head)
      const isRead = isWebSocket(answer)
      for (const [side, copy] of [
        [socket, exchange.requestBody],
        [server, exchange.responseBody]
      ] as const) {
        const messages = new WebSocketText((piece) => copy.add(piece))
        side.on("data", (chunk: Buffer) => (isRead ? messages.push(chunk) : copy.add(chunk)))
      }
      const end = (): void => {
        over()
        exchange.end(null)
        socket.destroy()
        server.destroy()
      }
      server.on("error", end).once("close", end)
      socket.once("close", end)
      socket.pipe(server)
      server.pipe(socket)
    })
  asked.end()
}
