/** Headers of HTTP/2 as they came, for the other side and for the record. Pure. */
import type { OutgoingHttpHeaders } from "node:http2"
import type { RawHeaders } from "../CaptureSink.ts"

const isPseudo = (name: string): boolean => name.startsWith(":")

/** All of them, in their order; values of one name come together. */
export const headersOf = (raw: RawHeaders): OutgoingHttpHeaders => {
  const headers: Record<string, string | Array<string>> = Object.create(null)
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2)
    const known = headers[name]
    if (known === undefined) headers[name] = value
    else if (typeof known === "string") headers[name] = [known, value]
    else known.push(value)
  }
  return headers
}

/** Headers without those that stand for the first line, and with the parts of a cookie as one (RFC 9113, 8.2.3). */
export const recordedHeaders = (raw: RawHeaders): RawHeaders => {
  const kept: Array<string> = []
  let cookieAt = -1
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2)
    if (isPseudo(name)) continue
    if (name === "cookie" && cookieAt >= 0) kept[cookieAt] += `; ${value}`
    else {
      if (name === "cookie") cookieAt = kept.length + 1
      kept.push(name, value)
    }
  }
  return kept
}

/** Bytes that are counted for a header beside its name and value (RFC 9113, 6.5.2). */
const bytesPerHeader = 32

/** Counts bytes as the limits of HTTP/2 do. */
export const bytesOf = (raw: RawHeaders): number =>
  raw.reduce((sum, text) => sum + text.length, (raw.length / 2) * bytesPerHeader)
