/**
 * How long an exchange of the gateway's own takes to those who watch: from the end of its answer at the client to the frame of the feed that
 * says so, while one client asks for the next as soon as it has the last.
 */
import http from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"
import { requestKinds } from "./bodies.mjs"
import { ADMIN_KEY } from "./servers.mjs"
import { percentile } from "./statistics.mjs"

/** When the feed told the end of each exchange, by the id of the gateway's request. */
const follow = (port) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/tools/traffic-inspector/ws`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` }
    })
    const toldAt = new Map()
    socket.once("error", reject)
    socket.once("open", () => resolve({ toldAt, close: () => socket.terminate() }))
    socket.on("message", (text) => {
      const { data, type } = JSON.parse(String(text))
      if ((type === "new" || type === "update") && typeof data.status === "number")
        toldAt.set(data.gatewayRequestId, performance.now())
    })
  })

const ask = (server, agent, body) =>
  new Promise((resolve, reject) => {
    const [name, value] = server.headers[0].split(": ")
    const headers = { [name]: value, "content-type": "application/json", "content-length": body.length }
    const to = { port: server.port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", agent, headers }
    http
      .request(to, (response) => {
        response.resume()
        response.on("end", () => resolve({ id: response.headers["x-gateway-request-id"], atMs: performance.now() }))
      })
      .on("error", reject)
      .end(body)
  })

export const measureFeedDelay = async (server, count) => {
  const { body, model } = requestKinds.small
  const bytes = Buffer.from(JSON.stringify(body(server.modelId(model))))
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const feed = await follow(server.port)
  const ended = []
  for (let at = 0; at < count; at += 1) {
    ended.push(await ask(server, agent, bytes))
    // Not in step with what gathers.
    await sleep(at % 23)
  }
  await sleep(500)
  feed.close()
  agent.destroy()
  const delays = ended.flatMap(({ atMs, id }) => (feed.toldAt.has(id) ? [feed.toldAt.get(id) - atMs] : []))
  const sorted = delays.toSorted((one, other) => one - other)
  return {
    count,
    told: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p95Ms: percentile(sorted, 0.95),
    mostMs: sorted.at(-1) ?? 0
  }
}
