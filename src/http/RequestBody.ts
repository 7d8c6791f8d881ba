/**
 * Reads a request body whole, within a limit. Plain callbacks: it runs before the request's fiber exists.
 */
import type { IncomingMessage } from "node:http"

export type BodyResult = Buffer | "too_large" | "gone"

const empty = Buffer.alloc(0)

/** The announced length, when there is one. */
const announced = (request: IncomingMessage): number => {
  const length = Number(request.headers["content-length"])
  return Number.isFinite(length) ? length : 0
}

/** Calls `done` once. After `too_large` the rest is read and thrown away, so that the client gets to see the answer. */
export const readBody = (request: IncomingMessage, limitBytes: number, done: (result: BodyResult) => void): void => {
  if (announced(request) > limitBytes) {
    request.resume()
    done("too_large")
    return
  }
  const chunks: Array<Buffer> = []
  let receivedBytes = 0
  let finished = false
  const finish = (result: BodyResult): void => {
    if (finished) return
    finished = true
    done(result)
  }
  request.on("data", (chunk: Buffer) => {
    receivedBytes += chunk.length
    if (receivedBytes <= limitBytes) chunks.push(chunk)
    else {
      chunks.length = 0
      finish("too_large")
    }
  })
  request.on("end", () => finish(chunks.length === 1 ? (chunks[0] ?? empty) : Buffer.concat(chunks)))
  request.on("close", () => finish("gone"))
}
