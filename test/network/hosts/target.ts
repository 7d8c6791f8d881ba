/** Runs on the target's host: what calls are meant to reach, over HTTP and HTTPS. `TLS_CERT` and `TLS_KEY` name its certificate. */
import { readFileSync } from "node:fs"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"

const env = (name: string): string => process.env[name] ?? ""
const waiting = new Set<ServerResponse>()
const pieceMs = 20
const block = Buffer.alloc(1_048_576, "x")

const stream = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write("data: first\n\n")
  const timer = setInterval(() => response.write("data: more\n\n"), pieceMs)
  response.on("close", () => clearInterval(timer))
}

/** Answers nothing until so many requests are there. */
const hold = (response: ServerResponse, count: number): void => {
  response.writeHead(200, { "content-type": "text/event-stream", connection: "close" })
  response.write("data: first\n\n")
  waiting.add(response)
  response.on("close", () => waiting.delete(response))
  if (waiting.size < count) return
  for (const held of waiting) held.end(`data: ${"y".repeat(50_000)}\n\n`)
}

const send = (response: ServerResponse, megabytes: number): void => {
  response.writeHead(200, { "content-length": String(megabytes * block.length) })
  let left = megabytes
  const more = (): void => {
    while (left > 0) {
      left -= 1
      if (!response.write(block)) return
    }
    response.end()
  }
  response.on("drain", more)
  more()
}

const answer: RequestListener = (request, response) => {
  const url = new URL(request.url ?? "/", "http://target")
  const number = (name: string): number => Number(url.searchParams.get(name) ?? "1")
  request.resume()
  switch (url.pathname) {
    case "/stream":
      return stream(response)
    case "/hold":
      return hold(response, number("n"))
    case "/bytes":
      return send(response, number("mib"))
    default: {
      const { remoteAddress, remotePort } = request.socket
      response.writeHead(200, url.searchParams.has("keep") ? {} : { connection: "close" })
      response.end(JSON.stringify({ peer: remoteAddress?.replace(/^::ffff:/, ""), port: remotePort }))
    }
  }
}

createServer(answer).listen(80, "::")
createSecureServer({ cert: readFileSync(env("TLS_CERT")), key: readFileSync(env("TLS_KEY")) }, answer).listen(443, "::")
process.on("disconnect", () => process.exit())
