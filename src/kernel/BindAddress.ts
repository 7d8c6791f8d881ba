/** Addresses to listen on, and how this machine reaches what listens on them. */

/** An address to listen on as sockets take it: an IPv6 address without the brackets that URLs have. */
export const bareHost = (host: string): string => host.trim().replace(/^\[(.*)\]$/, "$1")

/** Checks whether an address to listen on is reached from this machine only. */
export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)

const loopbackOf: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" }

/** The address under which a gateway that listens on `host` is reached from this machine. An IPv6 address may have brackets. */
export const addressOf = (host: string, port: number): string => {
  const bare = bareHost(host)
  const name = loopbackOf[bare] ?? (bare.includes(":") ? `[${bare}]` : bare)
  return `http://${name}:${port}`
}
