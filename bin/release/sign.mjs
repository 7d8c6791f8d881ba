// Checksums of a release's files in the form of sha256sum, and their signature (Ed25519), which `openssl pkeyutl` verifies.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex")

/** Lines of a file of checksums. */
export const checksumsOf = (folder, names) =>
  names.map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`).join("")

/** The key of a release, from a PEM file. Throws where it is none of Ed25519. */
export const keyOf = (file) => {
  const key = createPrivateKey(readFileSync(file))
  if (key.asymmetricKeyType !== "ed25519")
    throw new Error(`${file} is a key of ${key.asymmetricKeyType}, not of Ed25519.`)
  return key
}

/** A key for a dry run without one: it is not kept, and its signature proves nothing but that signing works. */
export const throwawayKey = () => generateKeyPairSync("ed25519").privateKey

/** Writes SHA256SUMS, its signature and the public key into a folder. */
export const signFiles = (folder, names, key) => {
  const sums = checksumsOf(folder, names)
  writeFileSync(join(folder, "SHA256SUMS"), sums)
  writeFileSync(join(folder, "SHA256SUMS.sig"), sign(null, Buffer.from(sums), key))
  writeFileSync(join(folder, "release.pub.pem"), createPublicKey(key).export({ type: "spki", format: "pem" }))
}
