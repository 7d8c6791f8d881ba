/** Runs on the target's host: what calls are meant to reach, over HTTP and HTTPS. `TLS_CERT` and `TLS_KEY` name its certificate. */
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
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

const chunk = (text: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "far", choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })}\n\n`

const completion = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "far",
  choices: [{ index: 0, message: { role: "assistant", content: "hello from afar" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 }
}

/** What a provider of models answers; a stream does not end. */
const chat = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  const body = JSON.parse(Buffer.concat(parts).toString("utf8")) as { readonly stream?: boolean }
  if (body.stream !== true) {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(completion))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(chunk("first"))
  const timer = setInterval(() => response.write(chunk("more")), pieceMs)
  response.on("close", () => clearInterval(timer))
}

const answer: RequestListener = (request, response) => {
  const url = new URL(request.url ?? "/", "http://target")
  const number = (name: string): number => Number(url.searchParams.get(name) ?? "1")
  if (url.pathname === "/v1/chat/completions") return void chat(request, response)
  request.resume()
  switch (url.pathname) {
    case "/stream":
      return stream(response)
    case "/hold":
      return hold(response, number("n"))
    case "/bytes":
      return send(response, number("mib"))
    case "/v1/models":
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ object: "list", data: [{ id: "far", object: "model" }] }))
      return
    default: {
      const { remoteAddress, remotePort } = request.socket
      const peer = remoteAddress?.replace(/^::ffff:/, "")
      response.writeHead(200, url.searchParams.has("keep") ? {} : { connection: "close" })
      response.end(JSON.stringify({ peer, port: remotePort, ip: peer }))
    }
  }
}

createServer(answer).listen(80, "::")
createSecureServer({ cert: readFileSync(env("TLS_CERT")), key: readFileSync(env("TLS_KEY")) }, answer).listen(443, "::")
process.on("disconnect", () => process.exit())
