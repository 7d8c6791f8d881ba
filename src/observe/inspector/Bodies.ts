/**
 * Bodies as they are kept: decoded, then masked, then cut. Compressed bodies are decoded up to a bound, so that a small one cannot become
 * a large one; what cannot be decoded is kept as it came.
 */
import { Buffer } from "node:buffer"
import { Transform } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { ZstdDecoder } from "../../kernel/zstd/Decoder.ts"
import { makeStreamMasker, maskForm, maskText } from "./masking/Masking.ts"
import type { BodyEncoding } from "../../contract/domain/TrafficRecord.ts"

export interface BodyLimits {
  /** True when secrets are masked. */
  readonly maskSecrets: boolean
  /** Bytes of a body that are shown. */
  readonly maxShownBytes: number
  /** Bytes that a compressed body is decoded to at most. */
  readonly maxDecodedBytes: number
}

export interface CapturedBody {
  /** Captured bytes, as they were on the wire. */
  readonly bytes: Uint8Array
  /** Size on the wire; larger than `bytes` where only the beginning was captured. */
  readonly size: number
  /** `content-encoding` and `content-type`, empty where there is none. */
  readonly contentEncoding: string
  readonly contentType: string
}

export interface DecodedBody {
  readonly bytes: Buffer
  /** False where only the beginning is known. */
  readonly isWhole: boolean
  /** False where the encoding is unknown, or the body is not in it. */
  readonly isDecoded: boolean
}

export interface ShownBody {
  /** UTF-8, or bytes of no text. */
  readonly bytes: Buffer
  readonly encoding: BodyEncoding
  readonly isTruncated: boolean
}

/** More codings than this are not undone. */
const maxCodings = 3

const zstdPieceBytes = 256

/** zstd as a stream. */
const zstdDecoder = (): Transform => {
  const decoder = new ZstdDecoder((block) => void stream.push(block))
  const stream = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      try {
        // Small pieces: each may become many blocks.
        for (let at = 0; at < chunk.length && !stream.destroyed; at += zstdPieceBytes) {
          decoder.push(chunk.subarray(at, at + zstdPieceBytes))
        }
        done()
      } catch (cause) {
        done(cause instanceof Error ? cause : new Error("The body is no zstd."))
      }
    },
    flush: (done) => {
      try {
        decoder.end()
        done()
      } catch (cause) {
        done(cause instanceof Error ? cause : new Error("The body is no zstd."))
      }
    }
  })
  return stream
}

/**
 * Chooses the decoder. A server that calls raw deflate `deflate` is wrong (RFC 9110, section 8.4.1.2) and common: the
 * first byte shows it.
 */
const decoderOf = (coding: string, first: number): Transform | null => {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip()
    case "deflate":
      return (first & 0x0f) === 8 ? createInflate() : createInflateRaw()
    case "br":
      return createBrotliDecompress()
    case "zstd":
      return zstdDecoder()
    default:
      return null
  }
}

/** The beginning of what a decoder makes of the bytes; null when it makes nothing of them. */
const inflate = (decoder: Transform, bytes: Uint8Array, maxBytes: number): Promise<DecodedBody | null> =>
  new Promise((done) => {
    const pieces: Array<Buffer> = []
    let length = 0
    const finish = (isWhole: boolean): void => {
      decoder.destroy()
      done(
        length === 0 && !isWhole
          ? null
          : { bytes: Buffer.concat(pieces).subarray(0, maxBytes), isWhole, isDecoded: true }
      )
    }
    decoder.on("data", (piece: Buffer) => {
      pieces.push(piece)
      length += piece.length
      if (length > maxBytes) finish(false)
    })
    decoder.on("end", () => finish(true))
    // The rest is missing or damaged: its beginning is still useful.
    decoder.on("error", () => finish(false))
    decoder.end(bytes)
  })

export const decodeBody = async (
  { bytes, contentEncoding, size }: CapturedBody,
  maxBytes: number
): Promise<DecodedBody> => {
  const codings = contentEncoding
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity")
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let body: DecodedBody = { bytes: raw, isWhole: size <= bytes.byteLength, isDecoded: true }
  if (codings.length > maxCodings) return { ...body, isDecoded: false }
  for (const coding of codings.toReversed()) {
    const decoder = body.bytes.length === 0 ? null : decoderOf(coding, body.bytes[0] ?? 0)
    const decoded = decoder === null ? null : await inflate(decoder, body.bytes, maxBytes)
    if (decoded === null) return { bytes: raw, isWhole: size <= bytes.byteLength, isDecoded: raw.length === 0 }
    body = { ...decoded, isWhole: decoded.isWhole && body.isWhole }
  }
  return body
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of a body; null when it is none. A character that was cut at the end is left out. */
export const textOf = ({ bytes, isDecoded, isWhole }: DecodedBody): string | null => {
  if (!isDecoded) return null
  try {
    return strict.decode(isWhole ? bytes : bytes.subarray(0, wholeCharacters(bytes)))
  } catch {
    return null
  }
}

/** Finds the end of the last whole character of UTF-8. */
const wholeCharacters = (bytes: Uint8Array): number => {
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

const isForm = (contentType: string): boolean => contentType.toLowerCase().includes("x-www-form-urlencoded")

/** A text that was cut may end within a secret: then what may be one is left out. */
const masked = (text: string, contentType: string, isWhole: boolean): string => {
  if (!isWhole) {
    const masker = makeStreamMasker()
    return masker.push(text) + masker.end(true)
  }
  return isForm(contentType) ? maskForm(text) : maskText(text)
}

const notice = (shown: number, total: number): string => `[truncated: ${shown} of ${total} bytes]`

/** Compressed data and pictures hold no secret in plain text; other bytes may have some among them. */
const maskBytes = (bytes: Buffer, isWhole: boolean): Buffer => {
  const text = bytes.toString("latin1")
  const clean = masked(text, "", isWhole)
  return clean === text ? bytes : Buffer.from(clean, "latin1")
}

/** Prepares a body to be shown. `text` is that of `textOf`. */
export const showBody = (
  body: DecodedBody,
  text: string | null,
  { contentType, size }: Pick<CapturedBody, "contentType" | "size">,
  { maskSecrets, maxShownBytes }: BodyLimits
): ShownBody => {
  const { bytes, isDecoded, isWhole } = body
  // Of a body that was cut before it was decoded only the size on the wire is known.
  const total = isWhole ? bytes.length : Math.max(size, bytes.length)
  if (text === null) {
    const clean = maskSecrets && isDecoded ? maskBytes(bytes, isWhole) : bytes
    const isTruncated = !isWhole || clean.length > maxShownBytes
    return { bytes: Buffer.from(clean.subarray(0, maxShownBytes)), encoding: "base64", isTruncated }
  }
  const clean = maskSecrets ? masked(text, contentType, isWhole) : text
  const all = clean === text && isWhole ? bytes : Buffer.from(clean, "utf8")
  if (isWhole && all.length <= maxShownBytes) return { bytes: all, encoding: "utf8", isTruncated: false }
  const shown = all.subarray(0, wholeCharacters(all.subarray(0, maxShownBytes)))
  return {
    bytes: Buffer.concat([shown, Buffer.from(notice(shown.length, total))]),
    encoding: "utf8",
    isTruncated: true
  }
}

/** The text before the notice. */
export const withoutNotice = (text: string): string => text.replace(/\[truncated: \d+ of \d+ bytes\]$/, "")
