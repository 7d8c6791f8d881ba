/**
 * One listener of the live feed. Frames for a client that reads slowly wait here, up to a limit; beyond it the oldest is dropped, and the client
 * gets the number of dropped ones.
 */
import type { WebSocket } from "ws"
import { type Channel, channels, readClientFrame } from "./Channels.ts"

export type LiveSocket = Pick<
  WebSocket,
  "readyState" | "OPEN" | "bufferedAmount" | "send" | "close" | "terminate" | "ping" | "on"
>

export interface LiveClient {
  readonly wanted: () => ReadonlySet<Channel>
  readonly send: (frame: string) => void
  /** Asks for a sign of life, and cuts a client that gave none since the last time. */
  readonly ping: () => void
  readonly close: (code: number, reason: string) => void
  readonly cut: () => void
}

/** Bytes that wait in the socket; beyond it frames wait here. */
export const highWaterBytes = 65_536
/** Frames that wait for a client. */
export const mostWaiting = 256

/** `chosen`: called when the client has chosen other channels. `open`: those that it may choose of. */
export const makeLiveClient = (
  socket: LiveSocket,
  nowMs: () => number,
  chosen: () => void = () => {},
  open: ReadonlyArray<Channel> = channels
): LiveClient => {
  let wanted: ReadonlySet<Channel> = new Set(open)
  let waiting: Array<string> = []
  let dropped = 0
  let isAlive = true

  const write = (frame: string): void => {
    if (socket.readyState === socket.OPEN) socket.send(frame, drain)
  }

  const drain = (): void => {
    if (dropped > 0 && socket.bufferedAmount < highWaterBytes) {
      const count = dropped
      dropped = 0
      write(JSON.stringify({ type: "dropped", count }))
    }
    while (waiting.length > 0 && socket.bufferedAmount < highWaterBytes) {
      const [next = "", ...rest] = waiting
      waiting = rest
      write(next)
    }
  }

  const send = (frame: string): void => {
    if (waiting.length === 0 && socket.bufferedAmount < highWaterBytes) return write(frame)
    waiting.push(frame)
    if (waiting.length <= mostWaiting) return
    waiting.shift()
    dropped += 1
  }

  const answer = (text: string): void => {
    const frame = readClientFrame(text)
    switch (frame._tag) {
      case "Ping":
        return send(JSON.stringify({ type: "pong", at: new Date(nowMs()).toISOString() }))
      case "Problem":
        return send(JSON.stringify({ type: "error", message: frame.message }))
      case "Subscribe":
        wanted = new Set([...frame.channels].filter((channel) => open.includes(channel)))
        chosen()
        return send(JSON.stringify({ type: "subscribed", channels: [...wanted] }))
    }
  }

  socket.on("message", (data, isBinary) => {
    isAlive = true
    answer(isBinary ? "" : String(data))
  })
  socket.on("pong", () => {
    isAlive = true
  })
  socket.on("error", () => {
    // The socket closes by itself; `close` follows.
  })

  return {
    wanted: () => wanted,
    send,
    ping: () => {
      if (!isAlive) return socket.terminate()
      isAlive = false
      socket.ping()
    },
    close: (code, reason) => socket.close(code, reason),
    cut: () => socket.terminate()
  }
}
