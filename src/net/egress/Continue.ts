/**
 * A server may send `100 Continue` unasked (RFC 9110, 15.2), and some proxies do. The HTTP client treats that as a broken connection,
 * so it is removed from the front of an answer before the client reads it.
 */
import type { Socket } from "node:net"

const interim = Buffer.from("HTTP/1.1 100", "latin1")
const endOfHead = "\r\n\r\n"
/** An interim answer has hardly any headers; a longer one is left to the HTTP client. */
const maxInterimBytes = 8_192

/** Length of the interim answer at the front; null while that is not known. */
const interimLength = (bytes: Buffer): number | null => {
  const known = Math.min(bytes.length, interim.length)
  if (interim.compare(bytes, 0, known, 0, known) !== 0) return 0
  const end = bytes.indexOf(endOfHead)
  if (end !== -1) return end + endOfHead.length
  return bytes.length > maxInterimBytes ? 0 : null
}

/** Watches what is read from the socket, from now and from each call of the returned function on until an answer has begun. */
export const dropContinues = (socket: Socket): (() => void) => {
  const read = socket.read.bind(socket)
  let watching = true
  let front: Buffer = Buffer.alloc(0)

  const pass = (chunk: Buffer): Buffer | null => {
    front = front.length === 0 ? chunk : Buffer.concat([front, chunk])
    for (;;) {
      const length = front.length === 0 ? null : interimLength(front)
      if (length === null) return null
      if (length === 0) break
      front = front.subarray(length)
    }
    const answer = front
    watching = false
    front = Buffer.alloc(0)
    return answer
  }

  socket.read = (size) => {
    const chunk: unknown = read(size)
    return watching && Buffer.isBuffer(chunk) ? pass(chunk) : chunk
  }
  return () => {
    watching = true
  }
}
