/** What bad proxies do. Each is a port on the proxy's host. */
export const faultPorts = {
  /** Says that the tunnel stands, and sends a page through it. */
  page: 9001,
  forbidden: 9002,
  hangs: 9003,
  resets: 9004,
  closes: 9005,
  /** Opens the tunnel, and closes it in the middle of the answer. */
  cuts: 9006,
  /** As before, with a reset. */
  breaks: 9007,
  floods: 9008,
  garbage: 9009,
  /** Sends a head byte by byte, without an end. */
  trickles: 9010,
  /** Opens the tunnel and closes its own side at once, but reads on. */
  halfOpen: 9011,
  /** An SSH server of Debian. */
  ssh: 9022,
  /** Nothing listens here. */
  nothing: 9099
} as const

export type Fault = keyof typeof faultPorts
