/**
 * Reads a request body whole, within a limit and a budget. Plain callbacks: it runs before the request's fiber exists.
 */
import type { IncomingMessage } from "node:http"
import { BodyNotDecoded } from "../../contract/domain/Errors.ts"
import type { BodyShare } from "../../plane/resilience/BodyBudget.ts"
import { announcedBytes, bodyOf } from "./ContentCodings.ts"

export type BodyResult = Buffer | BodyNotDecoded | "too_large" | "no_room" | "gone"

/** Memory of this size is given on the client's word; beyond it, as bytes come. */
const trustedBytes = 1_048_576
const leastSlabBytes = 16_384

const empty = Buffer.alloc(0)

/**
 * Bytes gathered in one slab that doubles as it fills: a buffer per chunk would cost a hundred times a chunk of one byte. A body that
 * comes in one chunk is that chunk.
 */
class Gathering {
  readonly #share: BodyShare
  readonly #expectedBytes: number
  #bytes: Buffer = empty
  #length = 0
  #isSlab = false

  constructor(share: BodyShare, expectedBytes: number) {
    this.#share = share
    this.#expectedBytes = expectedBytes
  }

  /** Adds a chunk; false when the budget has no space for it. */
  add(chunk: Buffer): boolean {
    if (this.#length === 0) {
      if (!this.#share.take(chunk.length)) return false
      this.#bytes = chunk
      this.#length = chunk.length
      return true
    }
    const length = this.#length + chunk.length
    if (!this.#isSlab || length > this.#bytes.length) {
      const slab = this.#larger(length)
      if (slab === null) return false
      this.#bytes.copy(slab, 0, 0, this.#length)
      this.#bytes = slab
      this.#isSlab = true
    }
    chunk.copy(this.#bytes, this.#length)
    this.#length = length
    return true
  }

  #larger(neededBytes: number): Buffer | null {
    // What is copied while it grows delays other requests: of what was announced, more is taken at a time.
    const factor = neededBytes <= this.#expectedBytes && this.#bytes.length >= trustedBytes ? 4 : 2
    const doubled = Math.max(neededBytes, factor * this.#bytes.length, leastSlabBytes)
    const trusted = Math.min(this.#expectedBytes, trustedBytes)
    const bytes =
      neededBytes <= this.#expectedBytes ? Math.min(Math.max(doubled, trusted), this.#expectedBytes) : doubled
    return this.#share.take(bytes - this.#bytes.length) ? Buffer.allocUnsafeSlow(bytes) : null
  }

  whole(): Buffer {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length)
  }
}

/**
 * Calls `done` once. What a body that was read whole takes of `share` stays taken: its request holds it until the caller releases the
 * share. After `too_large` and `no_room` the rest is read and thrown away, so that the client gets to see the answer.
 */
export const readBody = (
  request: IncomingMessage,
  limitBytes: number,
  share: BodyShare,
  done: (result: BodyResult) => void
): void => {
  const expectedBytes = announcedBytes(request)
  if (expectedBytes > limitBytes) {
    request.resume()
    done("too_large")
    return
  }
  let gathering: Gathering | null = new Gathering(share, expectedBytes)
  let receivedBytes = 0
  const finish = (result: BodyResult): void => {
    if (gathering === null) return
    gathering = null
    if (!Buffer.isBuffer(result)) share.release()
    done(result)
  }
  const body = bodyOf(request)
  body.on("data", (chunk: Buffer) => {
    if (gathering === null) return
    receivedBytes += chunk.length
    if (receivedBytes > limitBytes) finish("too_large")
    else if (!gathering.add(chunk)) finish("no_room")
  })
  body.on("end", () => finish(gathering === null ? empty : gathering.whole()))
  body.on("error", (cause) => finish(cause instanceof BodyNotDecoded ? cause : "gone"))
  body.on("close", () => finish("gone"))
}
