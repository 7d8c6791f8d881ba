/** Options of a tunnel over SSH. All of them end up in arguments of a program: no text may be taken for an option. */
import { addressFamily } from "../../egress/OutboundPolicy.ts"

export interface SshOptions {
  readonly user: string
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
  /** 0: the server chooses a free one. */
  readonly remotePort: number
  /** `SHA256:…`; null: the one pinned before. */
  readonly hostKey: string | null
}

const users = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}$/
const labels = /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}))*\.?$/
/** SHA-256 in base64 without padding, as `ssh-keygen -l` prints it. */
const fingerprints = /^SHA256:[A-Za-z0-9+/]{43}$/

const isPort = (port: number, least: number): boolean => Number.isInteger(port) && port >= least && port <= 65_535

export interface OptionProblem {
  readonly field: string
  /** A sentence for people. */
  readonly message: string
}

/** The first thing that is wrong; null: nothing. */
export const sshProblem = ({ host, hostKey, port, remotePort, user }: SshOptions): OptionProblem | null => {
  const invalid = (field: string, message: string): OptionProblem => ({ field, message })
  if (!users.test(user)) {
    return invalid("user", "A user name has at most 64 letters, digits and . _ @ + -, and does not begin with a mark.")
  }
  if (host.length > 253 || host.includes("%") || (addressFamily(host) === 0 && !labels.test(host))) {
    return invalid("host", "The host is a name or an IP address, without brackets, spaces and other marks.")
  }
  if (!isPort(port, 1)) return invalid("port", "The port is a number from 1 to 65535.")
  if (!isPort(remotePort, 0))
    return invalid("remotePort", "The remote port is a number from 0 to 65535; 0 lets the server choose.")
  if (hostKey !== null && !fingerprints.test(hostKey)) {
    return invalid(
      "hostKey",
      "The host key is its fingerprint: 'SHA256:' and 43 characters, as 'ssh-keygen -l' prints it."
    )
  }
  return null
}

/** Writes the host for a URL. */
export const urlHost = (host: string): string => (addressFamily(host) === 6 ? `[${host}]` : host.replace(/\.$/, ""))
