/**
 * Turns long JSON texts into bytes and back. `Buffer.toString("utf8")` and `Buffer.from(text)` go over letters beyond ASCII one by one, and a
 * whole request as a string takes new pages of memory: docs/contributing/speed.md has the figures.
 */
import { isAscii, transcode } from "node:buffer"

/** Shorter texts are quicker by the plain ways. */
const longFrom = 4_096

/** Hot: the text of some bytes. They are known to be UTF-8. */
export const textOf = (bytes: Buffer, start: number, end: number): string => {
  if (end - start < longFrom) return bytes.toString("utf8", start, end)
  const part = bytes.subarray(start, end)
  return isAscii(part) ? part.toString("latin1") : transcode(part, "utf8", "ucs2").toString("ucs2")
}

/** Hot: the bytes of a text that `JSON.stringify` has made: it has no half of a pair of surrogates. */
export const bytesOfJson = (json: string): Buffer =>
  json.length < longFrom ? Buffer.from(json) : transcode(Buffer.from(json, "ucs2"), "ucs2", "utf8")
