/**
 * One normal form of a request path, shared by everything that decides by path. Two spellings that a router, a proxy or a file
 * system could treat as the same are the same here, so that no spelling skips a check: percent-decoded once, slashes collapsed, dot
 * segments resolved. Spellings with no legitimate use (NUL, control characters, backslashes, doubly encoded dots) are refused.
 */

/** Decoded segments of a path; `/` has none. */
export type NormalPath = ReadonlyArray<string>

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const forbidden = /[\u0000-\u001f\u007f\\]|%(?:00|25|2e|2f|5c)/i

const decodeOnce = (text: string): string | null => {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** The path part of a request target (`/a?b`, or `http://host/a?b` as proxies send it). */
export const pathOf = (target: string): string => {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)
  const rest = origin === null ? target : target.slice(origin[0].length) || "/"
  const end = rest.search(/[?#]/)
  return end === -1 ? rest : rest.slice(0, end)
}

/** Normalises the path of a request target; null when it must be refused with 400. Letter case is kept. */
export const normalisePath = (target: string): NormalPath | null => {
  const path = pathOf(target)
  const decoded = decodeOnce(path)
  if (decoded === null || !decoded.startsWith("/") || forbidden.test(decoded)) return null
  const segments: Array<string> = []
  for (const segment of decoded.split("/")) {
    if (segment === "..") segments.pop()
    else if (segment !== "" && segment !== ".") segments.push(segment)
  }
  return segments
}
