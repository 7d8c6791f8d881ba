/** Ranges of time that usage is summed up over. */
import * as Schema from "effect/Schema"

export const usageRanges = ["1h", "24h", "7d", "30d", "90d"] as const
export const UsageRange = Schema.Literal(...usageRanges)
export type UsageRange = typeof UsageRange.Type

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const lengthMs: Readonly<Record<UsageRange, number>> = {
  "1h": hourMs,
  "24h": dayMs,
  "7d": 7 * dayMs,
  "30d": 30 * dayMs,
  "90d": 90 * dayMs
}

/**
 * Where a range begins that ends now (epoch milliseconds), and what it is summed up from. From a day on it begins at a whole hour, and 90
 * days at a whole day in UTC, so that it may be longer by a part of one.
 */
export const beginOf = (range: UsageRange, nowMs: number) => {
  const sinceMs = Math.max(0, nowMs - lengthMs[range])
  if (range === "1h") return { by: "rows", sinceMs } as const
  if (range === "90d") return { by: "days", sinceMs: Math.floor(sinceMs / dayMs) * dayMs } as const
  return { by: "hours", sinceMs: Math.floor(sinceMs / hourMs) * hourMs } as const
}
