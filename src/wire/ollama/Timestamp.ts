/** `created_at` of the ollama wire: RFC 3339, with up to nanoseconds. */

const maxMs = 8.64e15

/** Epoch milliseconds as text; an invalid date becomes the epoch. */
export const toTimestamp = (ms: number): string => new Date(Math.abs(ms) <= maxMs ? ms : 0).toISOString()

/** Epoch milliseconds of a text; null when it is not a date. */
export const fromTimestamp = (text: string | null): number | null => {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isFinite(ms) ? ms : null
}
