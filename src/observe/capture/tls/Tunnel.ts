/** Joins a client with the server it wanted, unread. Only that it was, when and how much is recorded. */
import type { Socket } from "node:net"
import type { CapturedRequest, TunnelReason } from "../CaptureSink.ts"
import { Exchange, type Recording } from "./Exchange.ts"
import { DialFailed, type Dialled } from "./Origin.ts"

/** Limit at which only the size is kept. */
const metadataOnly = 0

export interface TunnelOptions {
  readonly recording: Recording
  /** Socket of the client; it is paused and may have bytes put back. */
  readonly client: Socket
  readonly record: Omit<CapturedRequest, "startedAtMs" | "headers" | "method" | "path" | "httpVersion">
  readonly reason: TunnelReason
  /** Called once. */
  readonly dial: (done: (dialled: Dialled) => void) => void
  /** Ends the client's connection when there is none to the server; absent: it is cut. */
  readonly refuse?: (failure: DialFailed) => void
}

export const tunnel = ({
  client,
  dial,
  reason,
  record,
  recording,
  refuse = () => client.destroy()
}: TunnelOptions): void => {
  const exchange = new Exchange(
    { ...recording, maxBodyBytes: metadataOnly },
    { ...record, method: "CONNECT", path: "", httpVersion: null, headers: [] }
  )
  client.on("error", () => client.destroy())
  client.once("close", () => exchange.end({ code: "ECONNABORTED", message: "The client left." }, reason))
  dial((dialled) => {
    if (dialled instanceof DialFailed) {
      exchange.end({ code: dialled.code, message: dialled.message }, reason)
      refuse(dialled)
      return
    }
    if (client.destroyed) {
      dialled.destroy()
      return
    }
    exchange.sent()
    const end = (): void => {
      exchange.end(null, reason)
      client.destroy()
      dialled.destroy()
    }
    client.prependOnceListener("close", end)
    client.on("data", (chunk: Buffer) => exchange.requestBody.add(chunk))
    dialled
      .on("error", end)
      .once("close", end)
      .on("data", (chunk: Buffer) => exchange.responseBody.add(chunk))
    client.pipe(dialled)
    dialled.pipe(client)
  })
}
