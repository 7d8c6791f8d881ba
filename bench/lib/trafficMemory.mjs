/**
 * The memory of a gateway that records its own traffic for long: one exchange in twenty has a body of 1 MB, twenty clients follow the feed, and
 * five of them never read.
 */
import { randomBytes } from "node:crypto"
import http from "node:http"
import net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { requestKinds } from "./bodies.mjs"
import { residentKb } from "./procfs.mjs"
import { ADMIN_KEY } from "./servers.mjs"
import { percentile } from "./statistics.mjs"

const feedClients = 20
const stuckClients = 5
const largeEvery = 20
const connections = 16
const samples = 40

/** A client of the feed; one that is stuck reads nothing after the handshake. */
const followFeed = (port, isStuck) =>
  new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.write(
        [
          "GET /api/tools/traffic-inspector/ws HTTP/1.1",
          `Host: 127.0.0.1:${port}`,
          `Authorization: Bearer ${ADMIN_KEY}`,
          "Connection: Upgrade",
          "Upgrade: websocket",
          "Sec-WebSocket-Version: 13",
          `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
          "\r\n"
        ].join("\r\n")
      )
    })
    socket.once("error", reject)
    socket.once("data", (head) => {
      if (!head.toString("latin1").startsWith("HTTP/1.1 101"))
        return reject(new Error(head.toString("latin1").slice(0, 200)))
      const client = { bytes: 0, close: () => socket.destroy() }
      if (isStuck) socket.pause()
      else socket.on("data", (data) => (client.bytes += data.length))
      return resolve(client)
    })
  })

const ask = (server, agent, body) =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const [name, value] = server.headers[0].split(": ")
    const request = http.request(
      {
        port: server.port,
        host: "127.0.0.1",
        path: "/v1/chat/completions",
        method: "POST",
        agent,
        headers: { [name]: value, "content-type": "application/json", "content-length": body.length }
      },
      (response) => {
        response.resume()
        response.on("end", () => resolve({ status: response.statusCode, ms: performance.now() - startedAt }))
      }
    )
    request.on("error", reject).end(body)
  })

/** Least squares: KB for each thousand exchanges. */
const slopeOf = (points) => {
  const mean = (pick) => points.reduce((sum, point) => sum + pick(point), 0) / points.length
  const [x, y] = [mean(({ count }) => count), mean(({ kb }) => kb)]
  const over = points.reduce((sum, { count, kb }) => sum + (count - x) * (kb - y), 0)
  return (over / points.reduce((sum, { count }) => sum + (count - x) ** 2, 0)) * 1_000
}

export const measureMemory = async (server, { exchanges, deadlineSeconds }) => {
  const bodyOf = (kind) => {
    const { body, model } = requestKinds[kind]
    return Buffer.from(JSON.stringify(body(server.modelId(model))))
  }
  const [small, large] = [bodyOf("small"), bodyOf("huge")]
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const feeds = await Promise.all(
    Array.from({ length: feedClients }, (_, index) => followFeed(server.port, index < stuckClients))
  )
  const points = []
  const latencies = []
  let [next, done, refused] = [0, 0, 0]
  const endsAt = performance.now() + deadlineSeconds * 1_000
  const work = async () => {
    while (next < exchanges && performance.now() < endsAt) {
      next += 1
      const isLarge = next % largeEvery === 0
      const { ms, status } = await ask(server, agent, isLarge ? large : small)
      if (status !== 200) refused += 1
      if (!isLarge) latencies.push(ms)
      done += 1
      if (done % Math.ceil(exchanges / samples) === 0) points.push({ count: done, kb: residentKb(server.pid) })
    }
  }
  const startKb = residentKb(server.pid)
  await Promise.all(Array.from({ length: connections }, work))
  await sleep(3_000)
  const restKb = residentKb(server.pid)
  for (const feed of feeds) feed.close()
  agent.destroy()
  const half = points.slice(points.length / 2)
  return {
    exchanges: done,
    refused,
    startKb,
    restKb,
    mostKb: Math.max(...points.map(({ kb }) => kb)),
    halfKb: half[0]?.kb,
    endKb: half.at(-1)?.kb,
    slopeKbPerThousand: slopeOf(half),
    p99Ms: percentile(latencies, 0.99),
    mostMs: Math.max(...latencies),
    feedBytes: feeds.slice(stuckClients).map(({ bytes }) => bytes)
  }
}
