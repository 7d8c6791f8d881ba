/** The media type of an image by its first bytes: one wire sends images as bare base64, and clients of the others say wrong ones. */

/** Base64 characters that are decoded. */
const headChars = 32

const signatures: ReadonlyArray<readonly [prefix: string, mediaType: string]> = [
  ["\u0089PNG\r\n\u001a\n", "image/png"],
  ["\u00ff\u00d8\u00ff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"],
  ["BM", "image/bmp"],
  ["II*\u0000", "image/tiff"],
  ["MM\u0000*", "image/tiff"]
]

/** Brands of the ISO media container (`ftyp` box). */
const brands: Readonly<Record<string, string>> = {
  avif: "image/avif",
  avis: "image/avif",
  heic: "image/heic",
  heix: "image/heic",
  hevc: "image/heic",
  mif1: "image/heif",
  msf1: "image/heif"
}

/** Null for an unknown image format. Reads the head only, whatever the length. */
export const imageTypeOf = (base64: string): string | null => {
  const head = Buffer.from(base64.slice(0, headChars), "base64").toString("latin1")
  for (const [prefix, mediaType] of signatures) if (head.startsWith(prefix)) return mediaType
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "image/webp"
  return head.startsWith("ftyp", 4) ? (brands[head.slice(8, 12)] ?? null) : null
}
