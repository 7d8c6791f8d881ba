/**
 * The bare floor: `node:http` in, undici `dispatch` out, bytes relayed both ways with back-pressure and nothing looked at.
 * No gateway written for Node can do less, so every other server is measured against it. Usage: node floor.mjs UPSTREAM_PORT
 */
import http from "node:http"
import { Pool } from "undici"

const upstream = new Pool(`http://127.0.0.1:${process.argv[2]}`, {
  connections: null,
  headersTimeout: 0,
  bodyTimeout: 0
})
const requestHeaders = { "content-type": "application/json", authorization: "Bearer sk-bench-upstream" }
const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding"])

const relayedHeaders = (raw) => {
  const headers = {}
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i].toString("latin1").toLowerCase()
    if (!hopByHop.has(name)) headers[name] = raw[i + 1].toString("latin1")
  }
  return headers
}

const relayTo = (response) => ({
  onConnect: (abort) => {
    response.on("close", () => {
      if (!response.writableFinished) abort()
    })
  },
  onHeaders: (status, raw, resume) => {
    response.on("drain", resume)
    response.writeHead(status, relayedHeaders(raw))
    return true
  },
  onData: (bytes) => response.write(bytes),
  onComplete: () => response.end(),
  onError: () => {
    if (!response.headersSent) response.writeHead(502)
    response.end()
  }
})

const server = http.createServer((request, response) => {
  const parts = []
  request.on("data", (part) => parts.push(part))
  request.on("end", () => {
    const body = parts.length === 1 ? parts[0] : Buffer.concat(parts)
    upstream.dispatch({ method: "POST", path: request.url, headers: requestHeaders, body }, relayTo(response))
  })
})

server.listen(0, "127.0.0.1", 4096, () => {
  process.stdout.write(`Floor listening on http://127.0.0.1:${server.address().port}\n`)
})
