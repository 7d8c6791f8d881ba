/** Runs on the proxy's host: a name server that knows no name and remembers what it was asked, and bad proxies. */
import { createSocket } from "node:dgram"
import { connect, createServer, type Socket } from "node:net"
import { type Fault, faultPorts } from "./faults.ts"

interface Question {
  readonly from: string
  readonly name: string
}

const questions: Array<Question> = []
const headBytes = 12

const nameIn = (message: Buffer): string => {
  const labels: Array<string> = []
  for (let at = headBytes; (message[at] ?? 0) > 0;) {
    const length = message[at] ?? 0
    labels.push(message.toString("latin1", at + 1, at + 1 + length))
    at += 1 + length
  }
  return labels.join(".")
}

const server = createSocket({ type: "udp6" })
server.on("message", (message, { address, port }) => {
  if (message.length < headBytes) return
  questions.push({ from: address.replace(/^::ffff:/, ""), name: nameIn(message) })
  const answer = Buffer.from(message)
  // An answer, of recursion, that there is no such name.
  answer.writeUInt16BE(0x8183, 2)
  server.send(answer, port, address)
})
server.bind(53)

const established = "HTTP/1.1 200 Connection established\r\n\r\n"
const page = "<!doctype html><title>Sign in</title><p>Accept the terms of this network.</p>"
const trickleMs = 30

const targetOf = (head: string): readonly [host: string, port: number] => {
  const [, host = "", port = ""] = /^CONNECT \[?(.*?)\]?:(\d+) /.exec(head) ?? []
  return [host, Number(port)]
}

/** Relays until some of the answer has gone through. */
const relayUntil = (client: Socket, head: string, end: (client: Socket) => void): void => {
  const [host, port] = targetOf(head)
  const upstream = connect(port, host, () => client.write(established))
  upstream.on("error", () => client.destroy())
  client.on("close", () => upstream.destroy())
  client.pipe(upstream)
  let passed = 0
  upstream.on("data", (chunk: Buffer) => {
    passed += chunk.length
    client.write(chunk)
    // Behind a handshake of TLS and the head.
    if (passed < 1_000_000) return
    upstream.destroy()
    end(client)
  })
}

const flood = (socket: Socket): void => {
  socket.write("HTTP/1.1 200 OK\r\n")
  const more = (): void => {
    while (!socket.destroyed && socket.write(`X-Filler: ${"z".repeat(1_000)}\r\n`));
  }
  socket.on("drain", more)
  more()
}

const trickle = (socket: Socket): void => {
  const text = `HTTP/1.1 200 OK\r\nX-Slow: ${"z".repeat(10_000)}`
  let at = 0
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? "z"), trickleMs)
  socket.on("close", () => clearInterval(timer))
}

const faults: Readonly<Partial<Record<Fault, (socket: Socket, head: string) => void>>> = {
  page: (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${page.length}\r\n\r\n${page}`),
  forbidden: (socket) => socket.write(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${page.length}\r\n\r\n${page}`),
  hangs: () => {},
  resets: (socket) => socket.resetAndDestroy(),
  closes: (socket) => socket.end(),
  cuts: (socket, head) => relayUntil(socket, head, (client) => client.end()),
  breaks: (socket, head) => relayUntil(socket, head, (client) => client.resetAndDestroy()),
  floods: flood,
  garbage: (socket) => socket.write(Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 193 + 7) & 0xff))),
  trickles: trickle,
  halfOpen: (socket) => socket.end(established)
}

for (const [name, act] of Object.entries(faults)) {
  createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {})
    socket.once("end", () => socket.end())
    socket.once("data", (head) => {
      act(socket, head.toString("latin1"))
      socket.resume()
    })
  }).listen(faultPorts[name as Fault], "::")
}

process.on("message", ({ id }: { readonly id: number }) => process.send?.({ id, value: questions.splice(0) }))
process.send?.({ id: 0, value: "ready" })
process.on("disconnect", () => process.exit())
