/**
 * Splits a stream of JSON objects, alone or in one array, into the objects: servers send this form without `alt=sse`. Linear whatever the
 * chunking; bytes are copied only for an object that spans chunks.
 *
 * https://ai.google.dev/api/generate-content
 */
import { defaultMaxEventBytes, type OnBlock } from "../../sse/SseFramer.ts"

export interface ArrayFramer {
  /** An object exceeds the size limit. */
  readonly tooLarge: () => boolean
  /** Bytes of the incomplete object, and of what is before it. */
  readonly pendingBytes: () => number
  /**
   * `onObject` gets each complete object with what is before it (brackets, commas and white space). Returns the offset in `chunk` just
   * after its last complete object; 0 when none ends in it.
   */
  readonly push: (chunk: Buffer, onObject: OnBlock) => number
  /** The bytes of the incomplete object. The framer still knows whether it is inside of one. */
  readonly takePending: () => Buffer
}

export interface ArrayScanner {
  /** An object exceeds the size limit. */
  readonly tooLarge: () => boolean
  readonly push: (chunk: Buffer) => ReadonlyArray<string>
}

const quote = 34
const backslash = 92
const opening = 123
const closing = 125

export const makeArrayFramer = (maxObjectBytes = defaultMaxEventBytes): ArrayFramer => {
  let pending: Array<Buffer> = []
  let pendingBytes = 0
  let depth = 0
  let inString = false
  let escaped = false
  let tooLarge = false

  const keep = (bytes: Buffer): void => {
    if (bytes.length === 0) return
    pending.push(bytes)
    pendingBytes += bytes.length
  }

  const takePending = (): Buffer => {
    const [only] = pending
    const bytes = pending.length === 1 && only !== undefined ? only : Buffer.concat(pending, pendingBytes)
    pending = []
    pendingBytes = 0
    return bytes
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

  const push = (chunk: Buffer, onObject: OnBlock): number => {
    if (tooLarge) return 0
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      if (!step(chunk[at])) continue
      const end = at + 1
      if (pendingBytes === 0) onObject(chunk, start, end, end)
      else {
        keep(chunk.subarray(start, end))
        const object = takePending()
        onObject(object, 0, object.length, end)
      }
      start = end
    }
    keep(chunk.subarray(start))
    if (pendingBytes > maxObjectBytes) {
      tooLarge = true
      takePending()
    }
    return start
  }

  return {
    tooLarge: () => tooLarge,
    pendingBytes: () => pendingBytes,
    push,
    takePending
  }
}

/** The text of an object that is in `bytes[start, end)`. */
export const objectText = (bytes: Buffer, start: number, end: number): string =>
  bytes.toString("utf8", bytes.indexOf(opening, start), end)

export const makeArrayScanner = (maxObjectBytes = defaultMaxEventBytes): ArrayScanner => {
  const framer = makeArrayFramer(maxObjectBytes)
  return {
    tooLarge: framer.tooLarge,
    push: (chunk) => {
      const objects: Array<string> = []
      framer.push(chunk, (bytes, start, end) => objects.push(objectText(bytes, start, end)))
      return objects
    }
  }
}
