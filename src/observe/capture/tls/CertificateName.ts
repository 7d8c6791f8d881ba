/** Names that a certificate may be issued for. They come from clients, so whatever is no host name or IP address is refused. */
import { isIP } from "node:net"

export const maxNameChars = 253
const labelled = /^(?!-)[a-z0-9_-]{1,63}$/u

/** The name in lower case, without the dot at its end; null when it is none. An IP address is taken as it is. */
export const certificateName = (text: string): string | null => {
  if (text.length > maxNameChars + 1) return null
  const name = text.toLowerCase().replace(/\.$/u, "")
  if (isIP(name) !== 0) return name
  return name.length <= maxNameChars && name.split(".").every((label) => labelled.test(label)) ? name : null
}
