/** Width and height of an image, read from the header of its bytes. */

export interface ImageSize {
  /** Pixels. */
  readonly width: number
  readonly height: number
}

/** Base64 characters that are looked at. */
const headChars = 64
/** A JPEG may carry a preview of 64 KiB and colour profiles before its size. */
const jpegHeadChars = 262_144

const pngSize = (bytes: Buffer): ImageSize => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) })

const gifSize = (bytes: Buffer): ImageSize => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) })

const webpSize = (bytes: Buffer): ImageSize | null => {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case "VP8L": {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    default:
      return null
  }
}

/** Start-of-frame markers are C0 to CF without DHT (C4), JPG (C8) and DAC (CC). */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

const jpegSize = (bytes: Buffer): ImageSize | null => {
  let at = 2
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    // Fill bytes have no length; every other segment has one, of at least two bytes.
    at += marker === 0xff ? 1 : 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return null
}

const read = (bytes: Buffer): ImageSize | null => {
  if (bytes.length < 30) return null
  const head = bytes.toString("latin1", 0, 12)
  if (head.startsWith("\u0089PNG\r\n\u001a\n")) return pngSize(bytes)
  if (head.startsWith("GIF8")) return gifSize(bytes)
  if (head.startsWith("RIFF") && head.endsWith("WEBP")) return webpSize(bytes)
  return head.startsWith("\u00ff\u00d8\u00ff") ? jpegSize(bytes) : null
}

/** Null when the format is unknown or the header is not usable. */
export const imageSizeOf = (base64: string): ImageSize | null => {
  const chars = base64.startsWith("/9j/") ? jpegHeadChars : headChars
  const size = read(Buffer.from(base64.slice(0, chars), "base64"))
  return size !== null && size.width > 0 && size.height > 0 ? size : null
}
