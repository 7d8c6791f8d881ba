/** Checks the text of a field for a host alone: no scheme, no port. Pure. */

// Underscores are used in names of containers.
const name = /^[\da-z](?:[\d_a-z-]*[\da-z])?(?:\.[\da-z](?:[\d_a-z-]*[\da-z])?)*\.?$/i

/**
 * Checks whether the text is a DNS name, an IPv4 address, or an IPv6 address with or without brackets. Colons are in
 * IPv6 addresses only.
 */
export const isHostText = (text: string): boolean => {
  if (name.test(text)) return true
  const inside = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  return /^[\d.:a-f]+$/i.test(inside) && URL.canParse(`http://[${inside}]/`)
}

export const hostProblem = "must be a host name or an address, without scheme and port"
