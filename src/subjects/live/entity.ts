/** The channels of the live feed. */
export const channels = [
  "requests",
  "health",
  "quota",
  "budget",
  "combo",
  "stats",
  "config",
  "jobs",
  "attention"
] as const
export type Channel = (typeof channels)[number]
