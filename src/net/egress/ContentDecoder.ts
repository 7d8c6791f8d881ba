/**
 * Undoes a content encoding that an upstream applied although `identity` was asked for. Memory stays bounded whatever the
 * ratio: output is passed on in small pieces and stops while the sink is full, and the sink counts what it takes.
 */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import type { Transform } from "node:stream"

export interface DecoderSink {
  /** A decoded piece. Returning false pauses until `resume()`. */
  readonly onData: (chunk: Buffer) => boolean
  /** Called when there is space again after `write` returned false. */
  readonly onDrain: () => void
  readonly onEnd: () => void
  /** `truncated`: the input ended too early. `protocol`: it is not what its encoding claims. */
  readonly onFail: (kind: "truncated" | "protocol") => void
}

export interface ContentDecoder {
  /** False asks the writer to wait for `onDrain`. */
  readonly write: (chunk: Buffer) => boolean
  readonly end: () => void
  readonly resume: () => void
  /** Frees the decoder; the sink is not called any more. */
  readonly destroy: () => void
}

/** Servers disagree on whether `deflate` includes the zlib header; its low nibble is 8 when it is there. */
const openDeflate = (first: Buffer): Transform =>
  ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()

const openers: ReadonlyMap<string, (first: Buffer) => Transform> = new Map<string, (first: Buffer) => Transform>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["br", () => createBrotliDecompress()],
  ["deflate", openDeflate]
])

/** A decoder for a `content-encoding` value; null when the encoding is not known. */
export const decoderFor = (encoding: string, sink: DecoderSink): ContentDecoder | null => {
  const open = openers.get(encoding.trim().toLowerCase())
  if (open === undefined) return null
  let stream: Transform | null = null
  let destroyed = false

  const start = (first: Buffer): Transform =>
    open(first)
      .on("data", (chunk: Buffer) => {
        if (!destroyed && !sink.onData(chunk)) stream?.pause()
      })
      .on("drain", () => destroyed || sink.onDrain())
      .on("end", () => destroyed || sink.onEnd())
      .on("error", (error: NodeJS.ErrnoException) => {
        if (!destroyed) sink.onFail(error.code === "Z_BUF_ERROR" ? "truncated" : "protocol")
      })

  return {
    write: (chunk) => (stream ??= start(chunk)).write(chunk),
    // A body without a byte has nothing to decode.
    end: () => (stream === null ? sink.onEnd() : void stream.end()),
    resume: () => void stream?.resume(),
    destroy: () => {
      destroyed = true
      stream?.destroy()
    }
  }
}

/** Checks whether a `content-encoding` value means that there is something to decode. */
export const isEncoded = (encoding: string | null): encoding is string =>
  encoding !== null && encoding !== "" && encoding.toLowerCase() !== "identity"
