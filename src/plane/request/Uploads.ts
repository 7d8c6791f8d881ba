/** Files that came with a request, in the order of their form. They are there until the request is over. */
export interface Upload {
  readonly bytes: number
  /** The first bytes, at most `headBytes`: what a file is made of says how long it is. */
  readonly head: Buffer
  /** Reads the file from its begin, in pieces of at most so many bytes. All but the last have exactly that size. */
  readonly chunks: (chunkBytes: number) => AsyncIterable<Buffer>
}

export type Uploads = ReadonlyArray<Upload>

export const headBytes = 4_096
