/** Private keys in the text form of RFC 7468, and of PGP. Pure. */

/** Pattern of the beginning of a private key, at the begin of a line. */
export const privateKeyBegin = /^-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/
export const privateKeyEnd = /^-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/
/** No boundary is longer. */
export const maxBoundaryChars = 80

/** Finds private keys, from the first line to the last. Each boundary is looked at once. */
export const findPrivateKeys = (text: string, maxChars: number, found: (start: number, end: number) => void): void => {
  let begin: number | null = null
  for (let at = text.indexOf("-----"); at !== -1; at = text.indexOf("-----", at + 5)) {
    const line = text.slice(at, at + maxBoundaryChars)
    if (privateKeyBegin.test(line)) begin = at
    const last = privateKeyEnd.exec(line)?.[0]
    if (begin === null || last === undefined) continue
    const end = at + last.length
    if (end - begin <= maxChars) found(begin, end)
    begin = null
  }
}
