/** Reads a proxy's answers up to the point from which every byte belongs to the target. */
import type { Socket } from "node:net"

/** Judges all bytes so far: how many of them are the handshake, that more are needed, or that there will be no tunnel. */
export type Judge = (bytes: Buffer) => number | "more" | "failed"

/**
 * Runs `done` once: with true when the tunnel is open. What came behind the handshake is left in the socket, which is paused then.
 * A handshake above `maxBytes` has failed, and so has one whose socket ends. The caller's timer ends one that takes too long.
 */
export const readHandshake = (
  socket: Socket,
  maxBytes: number,
  judge: Judge,
  done: (stands: boolean) => void
): void => {
  const bytes = Buffer.allocUnsafe(maxBytes)
  let size = 0

  const finish = (stands: boolean): void => {
    socket.off("data", onData).off("end", onEnd).off("close", onEnd)
    done(stands)
  }
  const onEnd = (): void => finish(false)
  const onData = (chunk: Buffer): void => {
    const copied = chunk.copy(bytes, size)
    size += copied
    const verdict = judge(bytes.subarray(0, size))
    if (verdict === "more" && size < maxBytes) return
    // Not in flow any more: nothing is listening until the next layer is on top.
    socket.pause()
    if (typeof verdict !== "number") return finish(false)
    const rest = Buffer.concat([bytes.subarray(verdict, size), chunk.subarray(copied)])
    if (rest.length > 0) socket.unshift(rest)
    finish(true)
  }
  socket.on("data", onData).on("end", onEnd).on("close", onEnd)
}
