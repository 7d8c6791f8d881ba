/** Headers as they came, for the other side: in their order, with their spelling, nothing added and nothing taken but what is said here. */
import type { OutgoingMessage } from "node:http"
import type { RawHeaders } from "../CaptureSink.ts"

/** Removes the headers of these names (in lower case). */
export const without = (headers: RawHeaders, names: ReadonlySet<string>): Array<string> => {
  const kept: Array<string> = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = "", value = ""] = headers.slice(at, at + 2)
    if (!names.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

/** The first value of a header (name in lower case); null without one. */
export const valueOf = (headers: RawHeaders, sought: string): string | null => {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === sought) return headers[at + 1] ?? null
  }
  return null
}

/** Checks whether headers announce a body (RFC 9112, 6). */
export const announcesBody = (headers: RawHeaders): boolean =>
  valueOf(headers, "transfer-encoding") !== null || (valueOf(headers, "content-length") ?? "0") !== "0"

/** Sets them on a request. Values of one name stay in their order and come together. Throws for what may not be in a header. */
export const setAll = (message: OutgoingMessage, headers: RawHeaders): void => {
  // Node adds a header of its own where it was not said that there shall be none.
  message.removeHeader("connection")
  const values = new Map<string, { readonly name: string; readonly values: Array<string> }>()
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = "", value = ""] = headers.slice(at, at + 2)
    const known = values.get(name.toLowerCase())
    if (known === undefined) values.set(name.toLowerCase(), { name, values: [value] })
    else known.values.push(value)
  }
  for (const header of values.values()) {
    const [first = ""] = header.values
    message.setHeader(header.name, header.values.length === 1 ? first : header.values)
  }
}

/** Pairs of raw trailers, as Node takes them. */
export const trailerPairs = (trailers: RawHeaders): Array<[string, string]> => {
  const pairs: Array<[string, string]> = []
  for (let at = 0; at + 1 < trailers.length; at += 2) pairs.push([trailers[at] ?? "", trailers[at + 1] ?? ""])
  return pairs
}
