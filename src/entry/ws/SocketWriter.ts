/**
 * Writes frames to a socket and watches how fast they are read: answers are held up when much waits to be sent, and a client that
 * asks on without reading is not listened to for a while.
 */
import type { WebSocket } from "ws"

/** Bytes above which answers wait; they go on when half of it is gone. */
export const highWaterBytes = 1_048_576
/** Bytes above which nothing more is read from the client. */
const deafAboveBytes = 8 * 1_048_576

export type WritableSocket = Pick<WebSocket, "readyState" | "OPEN" | "bufferedAmount" | "send" | "pause" | "resume">

export interface SocketWriter {
  /** False when the client reads too slowly: `drained` resolves when it has caught up. */
  readonly send: (frame: string) => boolean
}

/** `progress` is called when bytes were taken while many waited: a sign of life of a slow client. */
export const makeSocketWriter = (socket: WritableSocket, drained: () => void, progress: () => void): SocketWriter => {
  let congested = false
  let deaf = false

  const flushed = (): void => {
    if (!congested) return
    progress()
    if (socket.bufferedAmount > highWaterBytes / 2) return
    congested = false
    if (deaf) {
      deaf = false
      socket.resume()
    }
    drained()
  }

  return {
    send: (frame) => {
      if (socket.readyState !== socket.OPEN) return true
      socket.send(frame, flushed)
      if (socket.bufferedAmount < highWaterBytes) return true
      congested = true
      if (!deaf && socket.bufferedAmount > deafAboveBytes) {
        deaf = true
        socket.pause()
      }
      return false
    }
  }
}
