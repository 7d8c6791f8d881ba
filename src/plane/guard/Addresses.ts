/** Addresses of machines in a text. Pure. */

const v4 = /(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)/g
/** Groups of hexadecimal digits between colons; the check decides. */
const v6 = /(?<![\w:.])[\da-f]{0,4}(?::[\da-f]{0,4}){2,8}(?![\w:]|\.\d)/gi

/** A number behind these is that of a version. */
const versionBefore = /(?:\b(?:v|ver|version|release|rev|build|chapter|section|§|oid)\.?[ :=]{0,2}|[@~^<>=])$/i

const octetsOf = (text: string): ReadonlyArray<number> | null => {
  const octets = text.split(".").map(Number)
  const isPlain = text.split(".").every((octet, index) => octet === String(octets[index]))
  return isPlain && octets.every((octet) => octet <= 255) ? octets : null
}

/** Checks whether an address is of no machine: unspecified, loopback, masks and broadcasts. */
const isNoMachine = ([first]: ReadonlyArray<number>): boolean => first === 0 || first === 127 || first === 255

const isV4 = (text: string, before: string): boolean => {
  const octets = octetsOf(text)
  return octets !== null && !isNoMachine(octets) && !versionBefore.test(before)
}

/** RFC 4291, section 2.2. Loopback and unspecified addresses are of no machine; times and names of code are no addresses. */
const isV6 = (text: string): boolean => {
  const [head = "", tail, ...more] = text.split("::")
  if (more.length > 0) return false
  const groups = [...head.split(":"), ...(tail === undefined ? [] : tail.split(":"))].filter((group) => group !== "")
  if (tail === undefined) return groups.length === 8 && head.split(":").length === 8
  const isLinkLocal = /^fe[89ab][\da-f]$/i.test(groups[0] ?? "")
  return groups.length <= 7 && groups.length >= (isLinkLocal ? 2 : 3) && /\d/.test(text)
}

export const findAddresses = (text: string, found: (start: number, end: number) => void): void => {
  for (const { 0: match, index } of text.matchAll(v4)) {
    if (isV4(match, text.slice(Math.max(0, index - 12), index))) found(index, index + match.length)
  }
  if (!text.includes(":")) return
  for (const { 0: match, index } of text.matchAll(v6)) if (isV6(match)) found(index, index + match.length)
}
