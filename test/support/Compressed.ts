/** Request bodies in content codings. Node 20 has no zstd: here it is written as blocks that are stored or repeat one byte, which all decoders read. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"

const blockBytes = 131_072

const block = (type: 0 | 1, size: number, isLast: boolean, body: Buffer): Buffer => {
  const head = Buffer.alloc(3)
  head.writeUIntLE((size << 3) | (type << 1) | (isLast ? 1 : 0), 0, 3)
  return Buffer.concat([head, body])
}

/** Head of a frame without the size of its content; a window of 128 KiB. */
const frameHead = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3])

export const zstdStored = (bytes: Buffer): Buffer => {
  const blocks: Array<Buffer> = []
  for (let at = 0; at === 0 || at < bytes.length; at += blockBytes) {
    const piece = bytes.subarray(at, at + blockBytes)
    blocks.push(block(0, piece.length, at + blockBytes >= bytes.length, piece))
  }
  return Buffer.concat([frameHead, ...blocks])
}

/** A frame that becomes `count` blocks of 128 KiB. */
export const zstdRuns = (count: number): Buffer =>
  Buffer.concat([
    frameHead,
    ...Array.from({ length: count }, (_, n) => block(1, blockBytes, n === count - 1, Buffer.from(" ")))
  ])

export const codings = {
  gzip: (bytes: Buffer) => gzipSync(bytes),
  deflate: (bytes: Buffer) => deflateSync(bytes),
  br: (bytes: Buffer) => brotliCompressSync(bytes),
  zstd: zstdStored
} as const satisfies Readonly<Record<string, (bytes: Buffer) => Buffer>>

export type Coding = keyof typeof codings
export const codingNames = Object.keys(codings) as ReadonlyArray<Coding>

/** Compresses as some clients write `deflate`. */
export const rawDeflate = (bytes: Buffer): Buffer => deflateRawSync(bytes)
