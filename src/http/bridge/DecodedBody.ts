/** The body of a captured request without its compression. */
import * as zlib from "node:zlib"

type Decode = (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer

/** Node has it since 22.15, its types for older ones do not. */
const zstd: unknown = Reflect.get(zlib, "zstdDecompressSync")

const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["gzip", zlib.gunzipSync],
  ["x-gzip", zlib.gunzipSync],
  ["deflate", zlib.inflateSync],
  ["br", zlib.brotliDecompressSync],
  ...(typeof zstd === "function" ? [["zstd", zstd as Decode] as const] : [])
])

/** Null where it cannot be decoded, or becomes larger than that. `encoding`: a `content-encoding` value. */
export const decodeBody = (body: Buffer, encoding: string | undefined, maxBytes: number): Buffer | null => {
  const name = encoding?.trim().toLowerCase() ?? ""
  if (name === "" || name === "identity") return body
  const decode = decoders.get(name)
  if (decode === undefined) return null
  try {
    return decode(body, { maxOutputLength: maxBytes })
  } catch {
    return null
  }
}
