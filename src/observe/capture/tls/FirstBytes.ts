/** Recognises the protocol of a client by its first bytes. They are put back into the socket, which is paused then. */
import type { Socket } from "node:net"
import type { Timer, Timers } from "../../../platform/Timers.ts"
import { type Hello, readClientHello } from "./ClientHello.ts"
import { clientPreface } from "./Http2.ts"

export type ClientProtocol =
  | Hello
  | { readonly _tag: "Http" }
  /** HTTP/2 without TLS, by a client that knows its server. */
  | { readonly _tag: "Http2" }
  /** A hello with a server name that is none. */
  | { readonly _tag: "BadName" }
  /** Something else, or nothing: the server may have to speak first. */
  | { readonly _tag: "Other" }
  /** The client left before that was clear. */
  | { readonly _tag: "Gone" }

export const sniffLimits = {
  /** Time in ms without a byte after which the server is taken to speak first. */
  silenceMs: 300,
  /** Time in ms from the first byte until the protocol has to be clear. */
  undecidedMs: 10_000
}

const tlsRecord = 22
/** The longest registered method has 17 letters. */
const maxMethodChars = 24
const space = 32

export type Judged =
  | Exclude<ClientProtocol, { readonly _tag: "Gone" }>
  | { readonly _tag: "More"; readonly atLeast: number }

const isCapital = (byte: number): boolean => byte >= 65 && byte <= 90

/** Pure. An HTTP method is known by its capitals and the space behind them. */
export const judgeFirstBytes = (bytes: Buffer): Judged => {
  if (bytes[0] === tlsRecord) {
    const read = readClientHello(bytes)
    return read._tag === "Unreadable" ? { _tag: "Other" } : read
  }
  if (bytes.subarray(0, clientPreface.length).equals(clientPreface)) return { _tag: "Http2" }
  if (bytes.length > 1 && clientPreface.subarray(0, bytes.length).equals(bytes)) {
    return { _tag: "More", atLeast: bytes.length + 1 }
  }
  const beginning = bytes.subarray(0, maxMethodChars + 1)
  const end = beginning.findIndex((byte) => !isCapital(byte))
  if (end === -1)
    return beginning.length > maxMethodChars ? { _tag: "Other" } : { _tag: "More", atLeast: bytes.length + 1 }
  return { _tag: end > 0 && beginning[end] === space ? "Http" : "Other" }
}

/** Runs `done` once. The returned function cancels it. */
export const sniff = (
  socket: Socket,
  timers: Pick<typeof Timers.Service, "after">,
  done: (protocol: ClientProtocol) => void,
  /** Null: a silent client is waited for. */
  silenceMs: number | null = sniffLimits.silenceMs
): (() => void) => {
  let chunks: Array<Buffer> = []
  let bytes = 0
  let atLeast = 1
  let isOver = false

  const stop = (): void => {
    isOver = true
    timer?.cancel()
    socket.off("data", onData).off("end", onGone).off("close", onGone)
  }
  const finish = (protocol: ClientProtocol): void => {
    if (isOver) return
    stop()
    socket.pause()
    if (bytes > 0) socket.unshift(Buffer.concat(chunks))
    done(protocol)
  }
  // What it sent by then is not enough to know what it is, and cannot be put back any more.
  const onGone = (): void => {
    if (isOver) return
    stop()
    done({ _tag: "Gone" })
  }
  const onData = (chunk: Buffer): void => {
    if (bytes === 0) {
      timer?.cancel()
      timer = timers.after(sniffLimits.undecidedMs, () => finish({ _tag: "Other" }))
    }
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < atLeast) return
    chunks = [Buffer.concat(chunks)]
    const judged = judgeFirstBytes(chunks[0] ?? chunk)
    if (judged._tag === "More") atLeast = judged.atLeast
    else finish(judged)
  }
  let timer: Timer | null = silenceMs === null ? null : timers.after(silenceMs, () => finish({ _tag: "Other" }))
  socket.on("data", onData).on("end", onGone).on("close", onGone)
  return () => {
    if (!isOver) stop()
  }
}
