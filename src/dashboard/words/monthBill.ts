/** Words of the bill of a month. */
import { plural } from "./plural.ts"

export const words = {
  title: (month: string): string => `Bill of ${month}`,
  by: "By",
  and: "and",
  nothingElse: "nothing else",
  timezone: "Time zone",
  rollUp: "With the teams below",
  dimensions: { person: "person", team: "team", key: "key", model: "model", provider: "provider", tag: "tag" },
  none: {
    person: "no person",
    team: "no team",
    key: "without a key",
    model: "no model",
    provider: "no provider",
    tag: "without a tag"
  },
  columns: { requests: "Requests", in: "Tokens in", out: "Tokens out", cost: "Cost", billed: "Billed" },
  table: "The bill",
  total: "Total",
  nothing: "Nothing was asked in this month.",
  open: "It is open: what is asked and written until it is closed counts.",
  closed: "closed",
  intact: "The report is as it was closed.",
  broken: "The report is not the one that was closed: its checksum differs.",
  checksum: "SHA-256",
  period: (from: string, to: string): string => `${from} to ${to}`,
  unpriced: (value: number): string =>
    plural(value, { one: "1 request has no known price", other: `${value} requests have no known price` }),
  corrections: "Corrections of earlier months",
  correctionsHint: "Requests that were written after their month was closed. They are not in the bill above.",
  month: "Month",
  csv: "As CSV",
  saved: "The file is saved where your browser puts downloads.",
  print: "Print",
  close: "Close the month",
  closeTitle: (month: string): string => `Close ${month}?`,
  closeMeans:
    "The bill stays as it is now, with the names and rates of today and a checksum. What is written later of the month is a correction on the next one. It cannot be opened again.",
  isClosed: "The month is closed.",
  over: "It can be closed when it is over.",
  allClosed: "Closed months",
  closedColumns: ["Month", "Time zone", "Closed", "Cost", "Corrections", "Report"],
  noneClosed: "No month was closed yet.",
  good: "intact",
  bad: "changed"
} as const
