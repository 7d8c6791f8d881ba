/** Words that several views use. */
import { plural } from "./plural.ts"

export const words = {
  loading: "Loading …",
  failed: "This did not work",
  forbidden: "You may not see this",
  localOnly: "Only on the gateway's own machine",
  localOnlyWhy:
    "It reads traffic, starts programs or changes that machine, so it is closed to pages that come through a network, a proxy or a tunnel. Open the dashboard there: gateway open.",
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
  showAll: (chars: string): string => `Show all ${chars} characters`,
  showLess: "Show less",
  picture: (name: string): string => (name === "" ? "picture, not loaded" : `picture, not loaded: ${name}`),
  table: "Table",
  code: "Code",
  rest: "The rest, as text",
  requests: (value: number): string => plural(value, { one: "request", other: "requests" })
} as const
