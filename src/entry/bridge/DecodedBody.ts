/** The body of a captured request without its compression. */
import * as zlib from "node:zlib"
import { ZstdDecoder } from "../../kernel/zstd/Decoder.ts"

type Decode = (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer

const zstd: Decode = (body, { maxOutputLength }) => {
  const blocks: Array<Buffer> = []
  let length = 0
  const decoder = new ZstdDecoder((block) => {
    length += block.length
    if (length > maxOutputLength) throw new Error("The body becomes too large.")
    blocks.push(block)
  })
  decoder.push(body)
  decoder.end()
  return Buffer.concat(blocks, length)
}

/** Servers disagree on whether `deflate` includes the zlib header; its low nibble is 8 when it is there. */
const deflate: Decode = (body, options) =>
  ((body[0] ?? 0) & 0x0f) === 8 ? zlib.inflateSync(body, options) : zlib.inflateRawSync(body, options)

const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["gzip", zlib.gunzipSync],
  ["x-gzip", zlib.gunzipSync],
  ["deflate", deflate],
  ["br", zlib.brotliDecompressSync],
  ["zstd", zstd]
])

/** More codings than this are not undone. */
const maxCodings = 3

/** Null where it cannot be decoded, or becomes larger than that. `encoding`: a `content-encoding` value. */
export const decodeBody = (body: Buffer, encoding: string | undefined, maxBytes: number): Buffer | null => {
  const names = (encoding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
  if (names.length > maxCodings) return null
  try {
    let decoded = body
    for (const name of names.toReversed()) {
      const decode = decoders.get(name)
      if (decode === undefined) return null
      decoded = decode(decoded, { maxOutputLength: maxBytes })
    }
    return decoded
  } catch {
    return null
  }
}
