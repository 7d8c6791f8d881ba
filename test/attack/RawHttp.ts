/** HTTP as an attacker speaks it: any header, any path, any bytes. `fetch` would correct most of it. */
import { request } from "node:http"
import { connect } from "node:net"

export interface Call {
  readonly method?: string
  /** Sent as it is. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Address of this machine's loopback that it comes from, such as `127.0.0.9`; absent: the usual one. */
  readonly from?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
}

/** Longest time any answer may take; only a hang reaches it. */
const patienceMs = 15_000

export const send = (port: number, call: Call, waitMs = patienceMs): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port,
        method: call.method ?? "GET",
        path: call.path,
        headers: {
          ...(call.body === undefined ? {} : { "content-length": String(Buffer.byteLength(call.body)) }),
          ...call.headers
        },
        agent: false,
        ...(call.from === undefined ? {} : { localAddress: call.from }),
        timeout: waitMs
      },
      (incoming) => {
        const chunks: Array<Buffer> = []
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
        incoming.on("error", reject)
        incoming.on("end", () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text: Buffer.concat(chunks).toString("utf8")
          })
        )
      }
    )
    outgoing.on("timeout", () => outgoing.destroy(new Error(`No answer within ${waitMs} ms`)))
    outgoing.on("upgrade", (incoming, socket) => {
      socket.destroy()
      resolve({ status: incoming.statusCode ?? 101, headers: incoming.headers, text: "" })
    })
    outgoing.on("error", reject)
    // A server that refuses before it has read the body may close while we still write.
    outgoing.end(call.body)
  })

/** Writes bytes on a plain socket and gives all that comes back until the other side ends or `enough` says so. */
export const raw = (port: number, bytes: string | Buffer, enough: (text: string) => boolean): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    const done = (): void => {
      socket.destroy()
      resolve(text)
    }
    socket.setTimeout(patienceMs, done)
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      if (enough(text)) done()
    })
    socket.on("error", done)
    socket.on("close", done)
    socket.write(bytes)
  })
