/** A mail server for tests, over node's sockets: takes every message, without TLS. */
import * as Effect from "effect/Effect"
import { createServer, type Socket } from "node:net"

export interface Taken {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** Head and body as they came. */
  readonly text: string
}

export interface SmtpServer {
  readonly port: number
  readonly taken: ReadonlyArray<Taken>
  /** Reply to the next command `RCPT`. */
  readonly refuse: (reply: string) => void
}

const addressIn = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? ""

export const startSmtp = Effect.acquireRelease(
  Effect.promise(async () => {
    const taken: Array<Taken> = []
    const sockets = new Set<Socket>()
    const refusals: Array<string> = []
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
      socket.on("error", () => socket.destroy())
      let from = ""
      let to: Array<string> = []
      let data: Array<string> | null = null
      let rest = ""
      const say = (line: string): void => void socket.write(`${line}\r\n`)
      const take = (line: string): void => {
        if (data !== null) {
          if (line !== ".") return void data.push(line)
          taken.push({ from, to, text: data.join("\r\n") })
          data = null
          return say("250 taken")
        }
        const word = line.slice(0, 4).toUpperCase()
        if (word === "EHLO") return say("250 test")
        if (word === "MAIL") {
          from = addressIn(line)
          to = []
        }
        if (word === "RCPT") {
          const refusal = refusals.shift()
          if (refusal !== undefined) return say(refusal)
          to.push(addressIn(line))
        }
        if (word === "DATA") {
          data = []
          return say("354 go on")
        }
        if (word === "QUIT") {
          say("221 bye")
          return void socket.end()
        }
        say("250 ok")
      }
      say("220 test ESMTP")
      socket.on("data", (chunk) => {
        const lines = (rest + chunk.toString("utf8")).split("\r\n")
        rest = lines.pop() ?? ""
        lines.forEach(take)
      })
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const started: SmtpServer = { port, taken, refuse: (reply) => void refusals.push(reply) }
    const stop = async (): Promise<void> => {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    }
    return { started, stop }
  }),
  ({ stop }) => Effect.promise(stop)
).pipe(Effect.map(({ started }) => started))
