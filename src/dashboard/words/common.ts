/** Words that several views use. */
import { plural } from "./plural.ts"

export const words = {
  loading: "Loading …",
  failed: "This did not work",
  forbidden: "You may not see this",
  requestId: "Request",
  retry: "Try again",
  stale: "This may be old: the gateway did not answer the last question.",
  cancel: "Cancel",
  close: "Close",
  typeName: (name: string): string => `Type “${name}” to go on`,
  save: "Save",
  copy: "Copy",
  copied: "Copied",
  copyAs: "Copy as a command",
  copyOf: (what: string): string => `Copy as ${what}`,
  proposals: "Proposals",
  toCopy: "Text to copy",
  nothing: "–",
  asTable: "As a table",
  from: "From",
  requests: (value: number): string => plural(value, { one: "request", other: "requests" })
} as const
