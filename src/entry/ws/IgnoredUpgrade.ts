/**
 * Some HTTP clients offer HTTP/2 with every plain request (`Upgrade: h2c`). An offer may be ignored, but node takes every request
 * with one for an upgrade: it is given back to the server as if the offer had not been made.
 */
import type { IncomingMessage, Server } from "node:http"
import type { Duplex } from "node:stream"

const ofTheOffer = new Set(["connection", "upgrade", "http2-settings"])

export const isWebSocketUpgrade = (request: IncomingMessage): boolean =>
  request.headers.upgrade?.toLowerCase() === "websocket"

const withoutOffer = (request: IncomingMessage): string => {
  const { method = "GET", rawHeaders, url = "/" } = request
  let text = `${method} ${url} HTTP/1.1\r\n`
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ""
    if (!ofTheOffer.has(name.toLowerCase())) text += `${name}: ${rawHeaders[at + 1] ?? ""}\r\n`
  }
  return `${text}\r\n`
}

/** `head` is what the socket has read after the request's head: the beginning of its body. */
export const ignoreUpgrade = (server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  socket.unshift(Buffer.concat([Buffer.from(withoutOffer(request), "latin1"), head]))
  server.emit("connection", socket)
}
