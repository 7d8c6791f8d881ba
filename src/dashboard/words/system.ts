/** Words of the view of the system. */
import { plural } from "./plural.ts"

export const words = {
  title: "System",
  areas: "Areas of the system",
  operations: "All operations",
  hint: "All that the gateway's API can do, with a form for each.",
  search: "Search operations",
  searchHint: "such as 'webhook', 'backup' or 'PUT /api/settings'",
  found: (value: number): string => plural(value, { one: "1 operation", other: `${value} operations` }),
  none: "No operation has these words.",
  back: "All operations",
  unknown: "There is no such operation."
} as const
