/** Entries of a tar file of the POSIX ustar form. https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06 */

export const blockBytes = 512

/** The end of an archive: two empty blocks. */
export const endOfArchive = (): Buffer => Buffer.alloc(2 * blockBytes)

/** Makes the bytes that fill the last block of a file of this size. */
export const paddingOf = (sizeBytes: number): Buffer =>
  Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes)

/** The largest size that eleven octal digits can hold; beyond it the number is binary with the first bit set. */
const mostOctalBytes = 0o77777777777

/** The header of a regular file that only its owner may read. `name` is ASCII, 100 characters at most. */
export const headerOf = (name: string, sizeBytes: number, modifiedMs: number): Buffer => {
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, at: number, digits: number): void =>
    void header.write(`${value.toString(8).padStart(digits, "0")}\0`, at, "latin1")
  header.write(name.slice(0, 100), 0, "latin1")
  octal(0o600, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  if (sizeBytes <= mostOctalBytes) octal(sizeBytes, 124, 11)
  else {
    header.writeBigUInt64BE(BigInt(sizeBytes), 128)
    header[124] = 0x80
  }
  octal(Math.max(0, Math.floor(modifiedMs / 1000)), 136, 11)
  header.write("0", 156, "latin1")
  header.write("ustar", 257, "latin1")
  header.write("00", 263, "latin1")
  // The checksum is of the header with blanks in its own place.
  header.fill(0x20, 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1")
  return header
}

/** The bytes of the first regular file of that name in an archive; null when there is none, or the archive is damaged. */
export const fileIn = (archive: Buffer, wanted: string): Buffer | null => {
  for (let at = 0; at + blockBytes <= archive.length;) {
    const header = archive.subarray(at, at + blockBytes)
    const name = header.toString("latin1", 0, 100).replace(/\0.*$/s, "")
    const size = Number.parseInt(header.toString("latin1", 124, 136), 8)
    if (name === "" || !Number.isSafeInteger(size) || size < 0) return null
    const isRegular = header[156] === 0x30 || header[156] === 0
    const begin = at + blockBytes
    if (isRegular && name.replace(/^\.\//, "") === wanted) {
      return begin + size <= archive.length ? archive.subarray(begin, begin + size) : null
    }
    at = begin + size + paddingOf(size).length
  }
  return null
}
