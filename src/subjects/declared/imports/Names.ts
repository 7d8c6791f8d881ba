/** Names made of foreign ones. Pure. */

const mostLetters = 40

/** Makes a prefix of a node for an address: the part of its host that distinguishes it from others. */
export const prefixFor = (baseUrl: string): string => {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : baseUrl
  const isNumber = /^[\d.]+$|:/.test(host)
  const parts = host.split(".").filter((part) => part !== "" && part !== "api" && part !== "www")
  const word = isNumber ? "local" : (parts[Math.max(0, parts.length - 2)] ?? host)
  const plain = word
    .toLowerCase()
    .replaceAll(/[^\da-z]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, mostLetters)
  return plain === "" ? "imported" : plain
}

/** A name that combos may have. */
export const comboName = (name: string): string =>
  name
    .replaceAll(/[^\p{L}\p{N} \-_/.[\]]/gu, "-")
    .slice(0, 100)
    .trim()
