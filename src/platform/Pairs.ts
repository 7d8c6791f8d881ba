/** `key=value,key=value` with percent-encoded values, as OpenTelemetry's variables have it (a part of the W3C baggage format). Pure. */

export type Pairs = ReadonlyArray<readonly [key: string, value: string]>

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Null when a part is no pair. Empty parts are left out. */
export const parsePairs = (text: string): Pairs | null => {
  const pairs: Array<readonly [string, string]> = []
  for (const part of text.split(",")) {
    if (part.trim() === "") continue
    const mark = part.indexOf("=")
    const key = mark < 0 ? "" : part.slice(0, mark).trim()
    const value = decoded(part.slice(mark + 1).trim())
    if (key === "" || value === null) return null
    pairs.push([key, value])
  }
  return pairs
}
