/**
 * A file of trusted certificates that every Java can read: the format JKS, which is the order of the fields here. It is integrity-protected by a
 * digest alone, and its password is no secret. https://docs.oracle.com/en/java/javase/17/security/java-cryptography-architecture-jca-reference-guide.html
 */
import { createHash, X509Certificate } from "node:crypto"

export const keyStorePassword = "changeit"

const magic = 0xfeedfeed
const version = 2
const trustedCertificate = 2
/** Goes into the digest between password and content, in every implementation. */
const whitener = "Mighty Aphrodite"

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Writes ASCII as `DataOutput.writeUTF` does. */
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, "latin1")
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

const utf16be = (value: string): Buffer => Buffer.from(value, "utf16le").swap16()

const entry = (pem: string, at: number, addedAtMs: number): Buffer => {
  const { raw } = new X509Certificate(pem)
  const added = Buffer.alloc(8)
  added.writeBigUInt64BE(BigInt(addedAtMs))
  return Buffer.concat([int(trustedCertificate), text(`gateway-${at}`), added, text("X.509"), int(raw.length), raw])
}

/** Writes a key store of PEM certificates, one each. */
export const javaKeyStore = (certificates: ReadonlyArray<string>, addedAtMs: number): Buffer => {
  const content = Buffer.concat([
    int(magic),
    int(version),
    int(certificates.length),
    ...certificates.map((pem, at) => entry(pem, at, addedAtMs))
  ])
  const digest = createHash("sha1").update(utf16be(keyStorePassword)).update(whitener).update(content).digest()
  return Buffer.concat([content, digest])
}
