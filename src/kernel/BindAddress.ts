/** Addresses to listen on, and how this machine reaches what listens on them. */

/** Whether an address to listen on is reached from this machine only. */
export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)

const loopbackOf: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" }

/** The address under which a gateway that listens on `host` is reached from this machine. An IPv6 address may have brackets. */
export const addressOf = (host: string, port: number): string => {
  const bare = host.replace(/^\[(.*)\]$/, "$1")
  const name = loopbackOf[bare] ?? (bare.includes(":") ? `[${bare}]` : bare)
  return `http://${name}:${port}`
}
