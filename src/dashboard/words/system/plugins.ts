/** Words of the area of plugins. */
import { plural } from "../plural.ts"

export const words = {
  title: "Plugins",
  hint: "Code of yours at events of requests, in a sandbox. It has what it was granted, and nothing else.",
  scan: "Look for changes",
  scanned: (value: number): string =>
    plural(value, { one: "1 folder was looked through.", other: `${value} folders were looked through.` }),
  scanProblem: (name: string, why: string): string => `${name}: ${why}`,
  changedFiles: "its files are not those that were installed; it is not called any more",
  list: "Installed",
  none: "No plugin is installed. Take one of the list below, or put a folder into `plugins` of the data folder and look for changes.",
  offers: "To install",
  noOffer: "There is nothing more to install.",
  install: "Install",
  installed: (name: string): string => `${name} is installed. It is not called before it is switched on.`,
  columns: ["Plugin", "State", "Calls", "Changed", "Refused", "Failed", "p99"],
  states: { installed: "not switched on yet", active: "on", inactive: "off", error: "stopped" },
  back: "All plugins",
  unknown: "There is no such plugin.",
  on: "Switch on",
  off: "Switch off",
  reload: "Reload",
  reloaded: "It was loaded anew.",
  switchedOn: (name: string): string => `${name} is on.`,
  switchedOff: (name: string): string => `${name} is off.`,
  remove: "Remove",
  removeTitle: (name: string): string => `Remove the plugin '${name}'?`,
  removeMeans: "Its files, its data and its configuration are deleted.",
  removed: "It is removed.",
  about: {
    version: "Version",
    author: "Author",
    license: "Licence",
    source: "From",
    hash: "Hash of its files",
    hooks: "Listens to",
    fails: "Where it fails"
  },
  sources: { local: "a folder or an upload", marketplace: "the list of plugins" },
  failClosed: "requests are refused",
  failOpen: "requests go on without it",
  noHooks: "nothing",
  permissions: "What it may do",
  noPermission: "See and change requests and answers of the events that it listens to, and nothing else.",
  permissionWords: {
    network: (hosts: ReadonlyArray<string> | null): string =>
      hosts === null
        ? "call any public address: it may send what it sees of requests and answers elsewhere"
        : `call ${hosts.length === 0 ? "no host" : hosts.join(", ")}: it may send what it sees of requests and answers there`,
    "file-read": (): string => "read files in its own data folder",
    "file-write": (): string => "write files in its own data folder, up to 50 MB",
    env: (): string => "read environment variables of the gateway, without those that look like secrets",
    exec: (): string => "start programs on this machine as the user of the gateway: this ends all isolation"
  },
  granted: "granted",
  asked: "asked for, not granted",
  grantTitle: (name: string): string => `Switch '${name}' on?`,
  grantMeans: (what: string): string => `From then on it may ${what}.`,
  grantVerb: "Grant and switch on",
  config: "Configuration",
  noConfig: "There is nothing to set.",
  logs: "What it wrote",
  noLogs: "It wrote nothing yet.",
  levels: { debug: "debug", info: "info", warn: "warning", error: "error" },
  stats: {
    calls: "Calls",
    modified: "Changed",
    blocked: "Refused",
    failed: "Failed",
    dropped: "Missed events",
    p99: "p99"
  },
  and: " and "
} as const
