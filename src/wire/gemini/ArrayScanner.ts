/**
 * Splits a stream of JSON objects, alone or in one array, into the texts of the objects: servers send this form without `alt=sse`.
 * Linear whatever the chunking; bytes are copied only for an object that spans chunks.
 *
 * https://ai.google.dev/api/generate-content
 */
import { defaultMaxEventBytes } from "../sse/SseFramer.ts"

export interface ArrayScanner {
  /** An object exceeds the size limit. */
  readonly tooLarge: boolean
  readonly push: (chunk: Buffer) => ReadonlyArray<string>
}

const quote = 34
const backslash = 92
const opening = 123
const closing = 125

export const makeArrayScanner = (maxObjectBytes = defaultMaxEventBytes): ArrayScanner => {
  let pending: Array<Buffer> = []
  let pendingBytes = 0
  let depth = 0
  let inString = false
  let escaped = false
  let tooLarge = false

  const takeWith = (rest: Buffer): string => {
    const text = pending.length === 0 ? rest.toString() : Buffer.concat([...pending, rest]).toString()
    pending = []
    pendingBytes = 0
    return text
  }

  /** Reads one byte; true when it ends an object. Brackets and commas outside of objects are separators. */
  const step = (byte: number | undefined): boolean => {
    if (escaped) escaped = false
    else if (inString) {
      if (byte === backslash) escaped = true
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = depth > 0
    else if (byte === opening) depth += 1
    else if (byte === closing && depth > 0) {
      depth -= 1
      return depth === 0
    }
    return false
  }

  const push = (chunk: Buffer): ReadonlyArray<string> => {
    if (tooLarge) return []
    const objects: Array<string> = []
    let start = depth > 0 ? 0 : -1
    for (let at = 0; at < chunk.length; at += 1) {
      const ended = step(chunk[at])
      if (start < 0 && depth > 0) start = at
      if (!ended) continue
      objects.push(takeWith(chunk.subarray(start, at + 1)))
      start = -1
    }
    if (start >= 0) {
      const rest = chunk.subarray(start)
      pending.push(rest)
      pendingBytes += rest.length
    }
    if (pendingBytes > maxObjectBytes) {
      tooLarge = true
      pending = []
    }
    return objects
  }

  return {
    get tooLarge() {
      return tooLarge
    },
    push
  }
}
