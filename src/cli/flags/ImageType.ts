/** Type of an image, found by its bytes. Pure. */

export type ImageType = "png" | "jpeg" | "gif" | "webp"

const startsWith = (bytes: Buffer, text: string, at = 0): boolean =>
  bytes.subarray(at, at + text.length).equals(Buffer.from(text, "latin1"))

/** Finds the type by the first bytes; null: none of these. */
export const imageTypeOf = (bytes: Buffer): ImageType | null => {
  if (startsWith(bytes, "\u0089PNG\r\n\u001a\n")) return "png"
  if (startsWith(bytes, "\u00ff\u00d8\u00ff")) return "jpeg"
  if (startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a")) return "gif"
  return startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8) ? "webp" : null
}
