/**
 * Splits a byte stream into server-sent event blocks (the lines up to and including an empty line). Linear whatever the chunking: every
 * byte is read once, by `indexOf`; bytes are copied only for a block that spans chunks.
 */

/** A block exceeds the size limit. */
export interface SseFailure {
  readonly reason: "event_too_large"
  readonly limitBytes: number
}

/** Large enough for an image in one event. */
export const defaultMaxEventBytes = 16 * 1_048_576

/** Handler of each complete block, in order: `bytes[start, end)`. It ends at `endOffset` of the chunk that was pushed. */
export type OnBlock = (bytes: Buffer, start: number, end: number, endOffset: number) => void

export interface SseFramer {
  readonly failure: () => SseFailure | null
  /** Bytes of the incomplete block. */
  readonly pendingBytes: () => number
  /** Returns true when the next byte begins an event. */
  readonly isBetween: () => boolean
  /** Returns the offset in `chunk` just after its last complete block; 0 when no block ends in it. */
  readonly push: (chunk: Buffer, onBlock: OnBlock) => number
  /** The bytes of the incomplete block; the framer is empty afterwards. */
  readonly takePending: () => Buffer
}

const lf = 10
const cr = 13
const nothing = Buffer.alloc(0)

export const makeSseFramer = (maxEventBytes = defaultMaxEventBytes): SseFramer => {
  let pending: Array<Buffer> = []
  let pendingBytes = 0
  let failure: SseFailure | null = null
  // The current line has no bytes yet, and the block has at least one line before it.
  let lineEmpty = true
  let blockEmpty = true
  // The last byte was a CR: an LF that follows belongs to the same line end.
  let afterCr = false

  const takePending = (): Buffer => {
    const [first] = pending
    const bytes = first === undefined ? nothing : pending.length === 1 ? first : Buffer.concat(pending, pendingBytes)
    pending = []
    pendingBytes = 0
    lineEmpty = true
    blockEmpty = true
    afterCr = false
    return bytes
  }

  const push = (chunk: Buffer, onBlock: OnBlock): number => {
    if (failure !== null) return 0
    const length = chunk.length
    let blockStart = 0
    let at = 0
    let nextCr = chunk.indexOf(cr)
    let nextLf = chunk.indexOf(lf)
    if (afterCr && length > 0) {
      afterCr = false
      if (nextLf === 0) {
        at = 1
        // The block that ended with the CR was already emitted: skip its LF too.
        if (pendingBytes === 0) blockStart = 1
        nextLf = chunk.indexOf(lf, at)
      }
    }
    while (nextLf >= 0 || nextCr >= 0) {
      const useCr = nextCr >= 0 && (nextLf < 0 || nextCr < nextLf)
      const lineEnd = useCr ? nextCr : nextLf
      let after = lineEnd + 1
      if (useCr) {
        if (after === length) afterCr = true
        else if (chunk[after] === lf) after += 1
        nextCr = chunk.indexOf(cr, after)
      }
      if (nextLf >= 0 && nextLf < after) nextLf = chunk.indexOf(lf, after)
      const empty = lineEmpty && lineEnd === at
      at = after
      lineEmpty = true
      if (!empty) {
        blockEmpty = false
        continue
      }
      // Stray empty lines between blocks belong to the block that follows.
      if (blockEmpty) continue
      blockEmpty = true
      if (pendingBytes === 0) onBlock(chunk, blockStart, after, after)
      else {
        pending.push(chunk.subarray(blockStart, after))
        pendingBytes += after - blockStart
        const endsInCr = afterCr
        const block = takePending()
        afterCr = endsInCr
        onBlock(block, 0, block.length, after)
      }
      blockStart = after
    }
    if (blockStart < length) {
      if (at < length) lineEmpty = false
      pending.push(blockStart === 0 ? chunk : chunk.subarray(blockStart))
      pendingBytes += length - blockStart
      if (pendingBytes > maxEventBytes) {
        failure = { reason: "event_too_large", limitBytes: maxEventBytes }
        takePending()
      }
    }
    return blockStart
  }

  return {
    failure: () => failure,
    pendingBytes: () => pendingBytes,
    isBetween: () => pendingBytes === 0 && !afterCr,
    push,
    takePending
  }
}
