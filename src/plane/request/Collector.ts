/** Collects the chunks of a body, up to a limit. */
export interface Collector {
  /** Keeps a piece; from the one that passes the limit on nothing more is kept. */
  readonly add: (chunk: Buffer) => void
  /** The limit was passed: what was gathered is not the whole. */
  readonly isFull: () => boolean
  readonly all: () => Buffer
}

export const makeCollector = (limitBytes: number): Collector => {
  const chunks: Array<Buffer> = []
  let size = 0
  return {
    add: (chunk) => {
      size += chunk.length
      if (size <= limitBytes) chunks.push(chunk)
    },
    isFull: () => size > limitBytes,
    all: () => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
  }
}
