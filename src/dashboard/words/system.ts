/** Words of the view of the system: its areas, its first page, and the list of operations. */
import { plural } from "./plural.ts"

export const words = {
  title: "System",
  areas: "Areas of the system",
  overview: "Overview",
  operations: "All operations",
  hint: "What is set and by whom, what is reachable from where, and how to get back.",
  operationsHint: "All that the gateway's API can do, with a form for each.",
  search: "Search operations",
  searchHint: "such as 'webhook', 'backup' or 'PUT /api/settings'",
  found: (value: number): string => plural(value, { one: "1 operation", other: `${value} operations` }),
  none: "No operation has these words.",
  back: "All operations",
  unknown: "There is no such operation.",
  set: {
    title: "What is set, and by whom",
    nothing: "Everything is as the gateway comes.",
    settings: (value: number): string =>
      plural(value, { one: "1 setting changed", other: `${value} settings changed` }),
    flags: (value: number): string => plural(value, { one: "1 flag set", other: `${value} flags set` }),
    variables: (value: number): string =>
      plural(value, { one: "1 variable of the start", other: `${value} variables of the start` }),
    more: (value: number): string => plural(value, { one: "and 1 more", other: `and ${value} more` }),
    all: "All settings",
    allFlags: "All flags",
    waits: (value: number): string =>
      plural(value, { one: "1 flag waits for a restart", other: `${value} flags wait for a restart` }),
    secret: "a secret"
  },
  doors: {
    title: "What is reachable from where",
    listener: "Listens on",
    machine: "this machine only",
    network: "every machine that has a way to it",
    keys: "API keys",
    keysRequired: "required",
    keysOptional: "not required: everybody who reaches the gateway may use your accounts",
    keysOptionalHere: "not required: every program of this machine may use your accounts",
    keysFlag: "Change",
    tunnels: "Tunnels",
    noTunnel: "none is open",
    tunnelOpen: "open",
    mcp: "MCP server",
    a2a: "A2A agent",
    metrics: "Metrics",
    metricsPublic: "without a key, from everywhere",
    metricsKey: "with a key, or from this machine",
    pages: "Pages of others",
    pagesNone: "none may call the gateway",
    ipFilter: "IP filter",
    on: "on",
    off: "off",
    publicUrl: "Public address"
  },
  recovery: {
    title: "Can I get back",
    last: "Last backup",
    never: "none yet",
    automatic: "Made by itself",
    every: { hourly: "every hour", daily: "every day", weekly: "every week" } as Readonly<Record<string, string>>,
    kept: (value: number): string =>
      plural(value, { one: "the last one is kept", other: `the last ${value} are kept` }),
    off: "switched off",
    count: "Backups",
    make: "Make a backup now",
    made: "The backup is made.",
    list: "Backups",
    undo: "A setting, a flag, a webhook that was changed here can be taken back at once, by the button in the message."
  }
} as const
