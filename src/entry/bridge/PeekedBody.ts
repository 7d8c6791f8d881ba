/**
 * Reads the body of a request and puts it back, so that another can read the request as if it were unread. The bytes are put back before the stream
 * has ended: until then Node takes them (https://nodejs.org/api/stream.html#readableunshiftchunk-encoding).
 */
import type { IncomingMessage } from "node:http"
import type { BodyShare } from "../../plane/resilience/BodyBudget.ts"

export interface Peeked {
  /** Bytes so far. */
  readonly body: Buffer
  /** True when these are all of them. */
  readonly isWhole: boolean
  /** Puts the bytes back; in the same turn only. */
  readonly putBack: () => void
}

/** `done` is called once, and never where the client leaves before. */
export const peekBody = (
  request: IncomingMessage,
  maxBytes: number,
  share: Pick<BodyShare, "take">,
  done: (peeked: Peeked) => void
): void => {
  const chunks: Array<Buffer> = []
  let length = 0
  const finish = (isWhole: boolean): void => {
    request.off("readable", onReadable)
    const body = Buffer.concat(chunks)
    const putBack = (): void => {
      if (body.length > 0) request.unshift(body)
    }
    done({ body, isWhole, putBack })
  }
  const onReadable = (): void => {
    for (let chunk: Buffer | null = request.read(); chunk !== null; chunk = request.read()) {
      chunks.push(chunk)
      length += chunk.length
      if (length > maxBytes || !share.take(chunk.length)) return finish(false)
    }
    if (request.complete) finish(true)
  }
  request.on("readable", onReadable)
}
