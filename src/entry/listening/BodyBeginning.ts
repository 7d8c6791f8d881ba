/** The first bytes of a request's body, for answers that name what was asked although the body is refused. */
import type { IncomingMessage } from "node:http"
import { bodyOf } from "./ContentCodings.ts"

/** Bytes that are kept. */
const mostBytes = 65_536

export interface Beginning {
  readonly text: string
  readonly isWhole: boolean
}

export interface BodyBeginning {
  /** Calls `use` once, as soon as so much of the body has come that no more of it is kept; not when the client leaves before. */
  readonly known: (use: (beginning: Beginning) => void) => void
}

/** Begins to keep them, and lets the body come: to read it whole, begin in the same turn. */
export const beginningOf = (request: IncomingMessage): BodyBeginning => {
  const chunks: Array<Buffer> = []
  let length = 0
  let found: Beginning | null = null
  let waiting: ((beginning: Beginning) => void) | null = null
  const finish = (isWhole: boolean): void => {
    if (found !== null) return
    found = { text: Buffer.concat(chunks).toString(), isWhole }
    chunks.length = 0
    waiting?.(found)
  }
  const body = bodyOf(request)
  // The body's reader reports it.
  body.on("error", () => finish(false))
  body.on("data", (chunk: Buffer) => {
    if (found !== null) return
    const room = mostBytes - length
    // A copy, as a part of a chunk keeps the whole of it.
    chunks.push(chunk.length > room ? Buffer.from(chunk.subarray(0, room)) : chunk)
    length += chunk.length
    if (chunk.length > room) finish(false)
  })
  body.on("end", () => finish(true))
  return {
    known: (use) => {
      if (found !== null) return use(found)
      waiting = use
    }
  }
}
