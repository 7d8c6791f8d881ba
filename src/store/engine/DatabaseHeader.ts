/** The first 100 bytes of a SQLite file: what can be said of it without opening it. https://www.sqlite.org/fileformat2.html#the_database_header */
import { closeSync, openSync, readSync, statSync } from "node:fs"

const magic = Buffer.from("SQLite format 3\0", "latin1")
const headerBytes = 100

export interface DatabaseHeader {
  /** `PRAGMA user_version`. */
  readonly userVersion: number
  /** Bytes that the file has by its own account; null when the header does not say. */
  readonly expectedBytes: number | null
}

/** Null when it is no header of SQLite. */
export const readHeader = (bytes: Uint8Array): DatabaseHeader | null => {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (header.length < headerBytes || !header.subarray(0, magic.length).equals(magic)) return null
  const rawPageSize = header.readUInt16BE(16)
  const pageSize = rawPageSize === 1 ? 65_536 : rawPageSize
  const pages = header.readUInt32BE(28)
  // Only when both change counters agree is the number of pages valid.
  const isPagesValid = pages > 0 && header.readUInt32BE(24) === header.readUInt32BE(92)
  return { userVersion: header.readUInt32BE(60), expectedBytes: isPagesValid ? pages * pageSize : null }
}

/** The header of a file. Throws what the system throws. */
export const headerOf = (path: string): DatabaseHeader | null => {
  const descriptor = openSync(path, "r")
  try {
    const bytes = Buffer.alloc(headerBytes)
    const read = readSync(descriptor, bytes, 0, headerBytes, 0)
    return readHeader(bytes.subarray(0, read))
  } finally {
    closeSync(descriptor)
  }
}

/** The schema version a file claims; 0 when it is no database. */
export const schemaVersionOf = (path: string): number => {
  try {
    return headerOf(path)?.userVersion ?? 0
  } catch {
    return 0
  }
}

/** Checks whether the file is shorter than its header says. */
export const isCutShort = (path: string, header: DatabaseHeader): boolean =>
  header.expectedBytes !== null && statSync(path).size < header.expectedBytes
