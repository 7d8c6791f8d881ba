/** Words of the area of feature flags. */
import { plural } from "../plural.ts"

export const words = {
  title: "Feature flags",
  hint: "Switches of the gateway. Only a session of the dashboard or the machine's owner may set them; a key cannot.",
  search: "Search flags",
  searchHint: "such as 'key', 'guard' or 'tool'",
  show: "Show",
  shows: { all: "All", set: "Only what is set" },
  found: (value: number): string => plural(value, { one: "1 flag", other: `${value} flags` }),
  none: "No flag has these words.",
  noneSet: "No flag is set: everything is as the gateway comes.",
  categories: {
    security: "Security",
    network: "Network",
    policies: "Policies",
    runtime: "Running",
    cli: "Command line",
    health: "Health"
  },
  sources: { db: "set here", env: "set at the start", default: "default" },
  usual: (value: string): string => `default: ${value}`,
  restart: "from the next start",
  pending: "another value is in force until the next start",
  waits: (what: string): string => `has no effect yet: ${what} does not exist`,
  danger: "be careful",
  caution: "with care",
  on: "on",
  off: "off",
  set: (key: string, value: string): string => `${key} is ${value}.`,
  cleared: (key: string): string => `${key} is at its default again.`,
  reset: "Default",
  resetAll: "All to their defaults",
  resetAllMeans: (value: number): string =>
    plural(value, {
      one: "1 flag that was set here goes back to the environment or its default.",
      other: `${value} flags that were set here go back to the environment or their defaults.`
    }),
  resetAllName: "all flags",
  allCleared: (value: number): string =>
    plural(value, { one: "1 flag was reset.", other: `${value} flags were reset.` }),
  restartNeeded: (value: number): string =>
    plural(value, { one: "1 flag waits for a restart.", other: `${value} flags wait for a restart.` }),
  restartNow: "Restart",
  restartMeans:
    "The gateway starts anew in the same process: requests that run may finish, and those that come meanwhile wait.",
  restartName: "restart",
  restarting: "The gateway restarts."
} as const
