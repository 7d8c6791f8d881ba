/** Changes of the headers of an answer: flat lists of names and values. Names are compared without regard to case. */
import type { ClientReply } from "../request/Exchange.ts"
import { wrapped } from "./Wrapped.ts"

/** The first value of `name`, which is in lower case; null without one. */
export const headerIn = (headers: ReadonlyArray<string>, name: string): string | null => {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === name) return headers[at + 1] ?? null
  }
  return null
}

/** `names`: in lower case. */
export const withoutHeaders = (headers: ReadonlyArray<string>, names: ReadonlySet<string>): Array<string> => {
  const kept: Array<string> = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = "", value = ""] = headers.slice(at, at + 2)
    if (!names.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

/** The list with `own` in the place of headers of the same names, and behind the others. */
export const withHeaders = (headers: ReadonlyArray<string>, own: ReadonlyArray<string>): Array<string> => {
  const names = new Set<string>()
  for (let at = 0; at < own.length; at += 2) names.add((own[at] ?? "").toLowerCase())
  const kept = withoutHeaders(headers, names)
  kept.push(...own)
  return kept
}

/** A reply whose headers are changed on their way. */
export const changingHead = (
  reply: ClientReply,
  change: (status: number, headers: Array<string>) => Array<string>
): ClientReply => wrapped(reply, { head: (status, headers) => reply.head(status, change(status, headers)) })
