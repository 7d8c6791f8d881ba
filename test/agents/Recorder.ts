/** Stands between an agent and the gateway, passes everything on as it comes and notes what was said. */
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, request as send } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"

export interface Exchange {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  requestBody: string
  /** 0 until there is an answer. */
  status: number
  responseHeaders: IncomingHttpHeaders
  responseBody: string
}

export interface Recorder {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly exchanges: ReadonlyArray<Exchange>
  readonly close: () => Promise<void>
}

/** Names and values as they came, with another host. */
const headersFor = (raw: ReadonlyArray<string>, host: string): Array<string> =>
  raw.map((text, index) => (index % 2 === 1 && raw[index - 1]?.toLowerCase() === "host" ? host : text))

export const start = async (target: string): Promise<Recorder> => {
  const { host, hostname, port } = new URL(target)
  const exchanges: Array<Exchange> = []
  const sockets = new Set<Socket>()
  const note = (method = "", url = "", headers: IncomingHttpHeaders = {}): Exchange => {
    const exchange = { method, url, headers, requestBody: "", status: 0, responseHeaders: {}, responseBody: "" }
    exchanges.push(exchange)
    return exchange
  }

  const server = createServer((incoming, outgoing) => {
    const exchange = note(incoming.method, incoming.url, incoming.headers)
    const onward = send(
      { hostname, port, method: exchange.method, path: exchange.url, headers: headersFor(incoming.rawHeaders, host) },
      (answer) => {
        exchange.status = answer.statusCode ?? 0
        exchange.responseHeaders = answer.headers
        outgoing.writeHead(exchange.status, answer.rawHeaders)
        outgoing.flushHeaders()
        answer.on("data", (chunk: Buffer) => (exchange.responseBody += chunk.toString("utf8")))
        answer.pipe(outgoing)
        answer.on("error", () => outgoing.destroy())
      }
    )
    onward.on("error", () => outgoing.destroy())
    outgoing.on("close", () => onward.destroy())
    incoming.on("data", (chunk: Buffer) => (exchange.requestBody += chunk.toString("utf8")))
    incoming.pipe(onward)
  })

  // After the handshake the bytes are only passed on.
  server.on("upgrade", (incoming, client: Socket, head: Buffer) => {
    const exchange = note(incoming.method, incoming.url, incoming.headers)
    const onward = connect(Number(port), hostname, () => {
      const headers = headersFor(incoming.rawHeaders, host)
      const lines = headers.flatMap((text, index) => (index % 2 === 0 ? [`${text}: ${headers[index + 1] ?? ""}`] : []))
      onward.write(`${exchange.method} ${exchange.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`)
      onward.write(head)
      onward.once("data", (chunk: Buffer) => {
        exchange.status = Number(/^HTTP\/1\.1 (\d{3})/u.exec(chunk.toString("latin1"))?.[1] ?? 0)
        client.write(chunk)
        onward.pipe(client)
      })
      client.pipe(onward)
    })
    for (const [one, other] of [
      [client, onward],
      [onward, client]
    ] as const) {
      one.on("error", () => other.destroy())
      one.on("close", () => other.destroy())
    }
  })

  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    }
  }
}
