/** Host keys of SSH servers: https://man.openbsd.org/sshd.8#SSH_KNOWN_HOSTS_FILE_FORMAT */
import { createHash } from "node:crypto"

export interface HostKey {
  /** `ssh-ed25519`, … */
  readonly type: string
  /** Base64. */
  readonly blob: string
}

/** The name of the server in our files, which hold one server each. */
export const hostAlias = "gateway-tunnel"

const maxBlobChars = 4_096
const blobs = /^[A-Za-z0-9+/]{16,}={0,2}$/
/** The algorithms that a server proves each type of key with, the best type first. */
const algorithms: ReadonlyMap<string, string> = new Map([
  ["ssh-ed25519", "ssh-ed25519"],
  ["ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"],
  ["ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384"],
  ["ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521"],
  ["ssh-rsa", "rsa-sha2-512,rsa-sha2-256"]
])
const order = [...algorithms.keys()]

/** A line of `ssh-keyscan` or of a known hosts file; null: a comment, or of no known type. */
export const readHostKey = (line: string): HostKey | null => {
  const [name = "", type = "", blob = ""] = line.trim().split(" ", 3)
  const isKey = name !== "" && !name.startsWith("#") && !name.startsWith("@") && algorithms.has(type)
  return isKey && blob.length <= maxBlobChars && blobs.test(blob) ? { type, blob } : null
}

/** Writes the fingerprint as `ssh-keygen -l` prints it. */
export const fingerprintOf = ({ blob }: HostKey): string =>
  `SHA256:${createHash("sha256").update(Buffer.from(blob, "base64")).digest("base64").replace(/=+$/, "")}`

/** Best first. */
export const byPreference = (keys: ReadonlyArray<HostKey>): ReadonlyArray<HostKey> =>
  keys.toSorted((one, other) => order.indexOf(one.type) - order.indexOf(other.type))

/** The value of `HostKeyAlgorithms` that asks the server for this key. */
export const algorithmsOf = ({ type }: HostKey): string => algorithms.get(type) ?? type

export const knownHostsLine = ({ blob, type }: HostKey): string => `${hostAlias} ${type} ${blob}\n`
