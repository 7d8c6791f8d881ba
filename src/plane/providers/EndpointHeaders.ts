/** Rules for the request headers an operator may add to a connection or a provider node. */

/** Headers the transport owns: hop-by-hop ones, addressing, and those that describe the body it writes or reads. */
const reserved: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/** Checks whether the transport owns this lower-case header name: such a header is not passed on. */
export const isReservedHeader = (name: string): boolean => reserved.has(name)

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const valuePattern = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/**
 * Returns the reason for which a header cannot be sent (RFC 9110 5.1, 5.5), null when it can. Never repeats the value.
 */
export const headerProblem = (name: string, value: string): string | null => {
  if (!tokenPattern.test(name)) return "the name is not a header name"
  return valuePattern.test(value) ? null : "the value holds a line break or a character that headers cannot carry"
}
