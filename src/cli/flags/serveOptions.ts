/**
 * The flags of `serve`, once. The command is built from this table, and so is the shortcut around the command-line
 * library for a plain start.
 */

import { readWorkers } from "../../platform/Workers.ts"

/** Options of `serve` from the command line; absent ones come from the configuration. */
export interface ServeFlags {
  readonly host?: string
  readonly port?: number
  readonly workers?: number
  readonly allowKeyless: boolean
  readonly open: boolean
}

interface ServeOption {
  readonly flag: string
  readonly description: string
}

export const serveOptions = {
  host: { flag: "host", description: "Address to listen on (HOST, else 127.0.0.1)." },
  port: { flag: "port", description: "Port to listen on; 0 takes a free one (PORT, else 20128)." },
  workers: {
    flag: "workers",
    description: "Processes that serve requests: 'auto' or 1 to 64 (GATEWAY_WORKERS, else 1)."
  },
  noOpen: { flag: "no-open", description: "Do not open the dashboard in a browser." },
  allowKeyless: {
    flag: "allow-keyless",
    description: "Allow an address others can reach although no API key is required."
  }
} as const satisfies Record<string, ServeOption>

export const portPattern = /^\d{1,5}$/
export const maxPort = 65_535
export const hostPattern = /^(?:[\w.:%-]+|\[[\da-fA-F.:%\w]+\])$/

/** A port as people write it, 0 to 65535; null when it is none. */
export const parsePort = (text: string): number | null => {
  const port = portPattern.test(text) ? Number(text) : Number.NaN
  return port <= maxPort ? port : null
}

/** An address to listen on; null when it cannot be one. */
const parseHost = (text: string): string | null => (hostPattern.test(text) ? text : null)

/** The flags as `serve` takes them. */
export const toServeFlags = (given: {
  readonly host: string | null
  readonly port: number | null
  readonly workers: number | null
  readonly noOpen: boolean
  readonly allowKeyless: boolean
}): ServeFlags => ({
  ...(given.host === null ? {} : { host: given.host }),
  ...(given.port === null ? {} : { port: given.port }),
  ...(given.workers === null ? {} : { workers: given.workers }),
  allowKeyless: given.allowKeyless,
  open: !given.noOpen
})

const fieldOf = new Map(
  (Object.keys(serveOptions) as ReadonlyArray<keyof typeof serveOptions>).map((field) => [
    `--${serveOptions[field].flag}`,
    field
  ])
)

/**
 * Reads the arguments of a plain start: nothing, or flags of this table, each once and well formed, with or without the word
 * `serve`. Null for everything else, which the command-line library then reads and explains.
 */
export const readServeArgv = (argv: ReadonlyArray<string>): ServeFlags | null => {
  let host: string | null = null
  let port: number | null = null
  let workers: number | null = null
  const switches = { noOpen: false, allowKeyless: false }
  const seen = new Set<string>()

  for (let i = argv[0] === "serve" ? 1 : 0; i < argv.length; i++) {
    const word = argv[i] ?? ""
    const equals = word.indexOf("=")
    const flag = equals === -1 ? word : word.slice(0, equals)
    const field = fieldOf.get(flag)
    if (field === undefined || seen.has(flag)) return null
    seen.add(flag)
    if (field === "noOpen" || field === "allowKeyless") {
      if (equals !== -1) return null
      switches[field] = true
      continue
    }
    const value = equals === -1 ? (argv[++i] ?? "") : word.slice(equals + 1)
    if (value.startsWith("-")) return null
    if (field === "host") host = parseHost(value)
    else if (field === "port") port = parsePort(value)
    else workers = readWorkers(value)
    if ({ host, port, workers }[field] === null) return null
  }
  return toServeFlags({ host, port, workers, ...switches })
}
