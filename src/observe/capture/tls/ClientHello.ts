/**
 * Reads the server name and the protocols of a TLS ClientHello from a connection's first bytes (RFC 8446, 4.1.2; RFC 6066, 3; RFC 7301).
 * Pure. Bounded in bytes and records, and linear: `More` says how many bytes it takes before asking again can bring anything new.
 */
import { createHash } from "node:crypto"
import { certificateName } from "./CertificateName.ts"

export interface Hello {
  readonly _tag: "Hello"
  /** Valid as the name of a certificate; null when the client named none. */
  readonly serverName: string | null
  /** Empty when the client named none. */
  readonly protocols: ReadonlyArray<string>
  /**
   * Equal for connections of one program and, as far as its way to do TLS is concerned, different for another: a hash over its cipher suites, kinds
   * of extensions and protocols. What differs from one connection to the next is left out: the name, padding, resumption, and values that are
   * there to be ignored (RFC 8701), as is the order of extensions.
   */
  readonly client: string
}

export type Read =
  | Hello
  /** Ask again when there are at least so many bytes. */
  | { readonly _tag: "More"; readonly atLeast: number }
  /** The server's name has a form that no name can have. */
  | { readonly _tag: "BadName" }
  /** No TLS, or a hello that does not follow its own lengths. */
  | { readonly _tag: "Unreadable" }

/** Most bytes of the handshake message; those of browsers have about 2 KiB. */
export const maxHelloBytes = 16 * 1024
/** A hello usually has one record. */
const maxRecords = 16
const recordHeaderBytes = 5
const maxRecordBytes = 16 * 1024
const messageHeaderBytes = 4

const handshakeRecord = 22
const clientHello = 1
const serverNameExtension = 0
const protocolsExtension = 16
const hostNameType = 0
/** Server name, padding, session ticket, pre-shared key, early data, cookie, modes of pre-shared keys. */
const changingExtensions = new Set([serverNameExtension, 21, 35, 41, 42, 44, 45])
const clientChars = 16

/** RFC 8701, 2. */
const isGrease = (value: number): boolean => (value & 0x0f0f) === 0x0a0a && value >> 8 === (value & 0xff)

const unreadable: Read = { _tag: "Unreadable" }
const more = (atLeast: number): Read => ({ _tag: "More", atLeast })

/** A place in bytes; what is outside of them makes it invalid, and from then on everything is 0 or empty. */
class Cursor {
  readonly bytes: Buffer
  at = 0
  isValid = true

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get isAtEnd(): boolean {
    return !this.isValid || this.at >= this.bytes.length
  }

  number(size: 1 | 2): number {
    if (this.at + size > this.bytes.length) {
      this.isValid = false
      return 0
    }
    const value = this.bytes.readUIntBE(this.at, size)
    this.at += size
    return value
  }

  take(size: number): Buffer {
    if (!this.isValid || this.at + size > this.bytes.length) {
      this.isValid = false
      return Buffer.alloc(0)
    }
    this.at += size
    return this.bytes.subarray(this.at - size, this.at)
  }

  vector(lengthSize: 1 | 2): Buffer {
    return this.take(this.number(lengthSize))
  }
}

/** The handshake message out of its records. */
const messageOf = (bytes: Buffer): Buffer | Read => {
  const parts: Array<Buffer> = []
  let size = 0
  let announcedBytes: number | null = null
  let at = 0
  for (let record = 0; record < maxRecords; record += 1) {
    // Zeroes stand for what has not come yet.
    const [type = handshakeRecord, major = 3] = bytes.subarray(at, at + 2)
    if (type !== handshakeRecord || major !== 3) return unreadable
    if (bytes.length < at + recordHeaderBytes) return more(at + recordHeaderBytes)
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || length > maxRecordBytes) return unreadable
    const end = at + recordHeaderBytes + length
    if (bytes.length < end) return more(end)
    parts.push(bytes.subarray(at + recordHeaderBytes, end))
    size += length
    at = end
    if (announcedBytes === null && size >= messageHeaderBytes) {
      const head = Buffer.concat(parts)
      if (head[0] !== clientHello) return unreadable
      announcedBytes = messageHeaderBytes + head.readUIntBE(1, 3)
      if (announcedBytes > maxHelloBytes) return unreadable
    }
    if (announcedBytes !== null && size >= announcedBytes)
      return Buffer.concat(parts).subarray(messageHeaderBytes, announcedBytes)
  }
  return unreadable
}

const hostNameOf = (extension: Buffer): string | null => {
  const list = new Cursor(new Cursor(extension).vector(2))
  while (!list.isAtEnd) {
    const type = list.number(1)
    const name = list.vector(2)
    if (type === hostNameType && list.isValid) return name.toString("latin1")
  }
  return null
}

const protocolsOf = (extension: Buffer): ReadonlyArray<string> => {
  const list = new Cursor(new Cursor(extension).vector(2))
  const names: Array<string> = []
  while (!list.isAtEnd) names.push(list.vector(1).toString("latin1"))
  return list.isValid ? names : []
}

const clientOf = (suites: Buffer, kinds: ReadonlyArray<number>, protocols: ReadonlyArray<string>): string => {
  const ciphers: Array<number> = []
  for (let at = 0; at + 1 < suites.length; at += 2) {
    const suite = suites.readUInt16BE(at)
    if (!isGrease(suite)) ciphers.push(suite)
  }
  const sorted = kinds.toSorted((one, other) => one - other)
  return createHash("sha256")
    .update(JSON.stringify([ciphers, sorted, protocols]))
    .digest("base64")
    .slice(0, clientChars)
}

export const readClientHello = (bytes: Buffer): Read => {
  const message = messageOf(bytes)
  if (!Buffer.isBuffer(message)) return message
  const body = new Cursor(message)
  // Version and random.
  body.take(34)
  // Session, cipher suites, compression methods.
  body.vector(1)
  const suites = body.vector(2)
  body.vector(1)
  if (!body.isValid) return unreadable
  let named: string | null = null
  let protocols: ReadonlyArray<string> = []
  const kinds: Array<number> = []
  if (!body.isAtEnd) {
    const extensions = new Cursor(body.vector(2))
    while (!extensions.isAtEnd) {
      const type = extensions.number(2)
      const extension = extensions.vector(2)
      if (!changingExtensions.has(type) && !isGrease(type)) kinds.push(type)
      if (type === serverNameExtension) named = hostNameOf(extension)
      else if (type === protocolsExtension) protocols = protocolsOf(extension)
    }
    if (!extensions.isValid || !body.isValid) return unreadable
  }
  const client = clientOf(suites, kinds, protocols)
  if (named === null) return { _tag: "Hello", serverName: null, protocols, client }
  const serverName = certificateName(named)
  return serverName === null ? { _tag: "BadName" } : { _tag: "Hello", serverName, protocols, client }
}
