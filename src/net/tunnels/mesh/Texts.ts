/**
 * Output of the `tailscale` program, and its meaning. Texts of 1.36 to 1.90:
 * https://github.com/tailscale/tailscale/tree/main/cmd/tailscale/cli (`serve_v2.go`, `serve_legacy.go`, `up.go`, `diag.go`).
 */
import { harmless } from "../../../kernel/text/TerminalText.ts"
import type { CommandResult } from "./Command.ts"

/** `funnel --bg` and `--https`: before, the command was `funnel 443 on`. https://tailscale.com/changelog#2023-10-17 */
const leastVersion = [1, 52] as const

/** `1.80.2` of what `tailscale version` prints; null: it is no version. */
export const versionIn = (text: string): string | null =>
  /^\s*v?(\d{1,4}\.\d{1,4}(?:\.\d{1,6})?)/.exec(text)?.[1] ?? null

export const isOldGrammar = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < leastVersion[0] || (major === leastVersion[0] && minor < leastVersion[1])
}

export const oldGrammarReason = (version: string): string =>
  `Tailscale ${version} is too old: its 'funnel' command works in another way. Update it to ${leastVersion.join(".")} or newer.`

const both = ({ stderr, stdout }: CommandResult): string => `${stdout}\n${stderr}`

export const isDaemonDown = (result: CommandResult): boolean =>
  /failed to connect to local tailscale(?:d| service| daemon)/i.test(both(result))

/** Another user may change its settings: https://tailscale.com/kb/1080/cli#set */
export const isAccessDenied = (result: CommandResult): boolean =>
  /\baccess denied\b|must be root|use 'sudo tailscale|permission denied/i.test(both(result))

export const isAlreadyOff = (result: CommandResult): boolean =>
  /handler does not exist|serve config does not exist/i.test(both(result))

/** Commands of the old grammar, and texts of the new one about it. */
export const saysOldGrammar = (result: CommandResult): boolean =>
  /flag provided but not defined: -(?:bg|https)|the CLI for serve and funnel has changed/i.test(both(result))

const notEnabled = /(?:funnel|serve) is not enabled on your tailnet|funnel not available/i

/** An address of its own line, of a bounded length. */
const addressLine = /^\s*(https?:\/\/[\x21-\x7e]{1,500})\s*$/

export interface NotEnabled {
  /** Address at which an administrator of the network allows funnels; null: it was not given. */
  readonly enableUrl: string | null
}

/** Null: it does not say that the network does not allow funnels. */
export const notEnabledIn = (text: string): NotEnabled | null => {
  const said = notEnabled.exec(text)
  if (said === null) return null
  const after = text.slice(said.index, said.index + 4_096).split("\n")
  return { enableUrl: after.flatMap((line) => addressLine.exec(line)?.[1] ?? []).find(isEnableAddress) ?? null }
}

/** The page is in an answer of Tailscale's, which people open: no other site. */
const isEnableAddress = (address: string): boolean => {
  if (!URL.canParse(address)) return false
  const { hostname, protocol } = new URL(address)
  return protocol === "https:" && (hostname === "tailscale.com" || hostname.endsWith(".tailscale.com"))
}

/** Makes the check whether a line ends the text about funnels that are not allowed: the program waits from here. */
export const makeNotEnabledEnd = (): ((line: string) => boolean) => {
  let isAnnounced = false
  return (line) => {
    isAnnounced ||= notEnabled.test(line)
    return isAnnounced && addressLine.test(line)
  }
}

/** The address to log in at, by lines: `To authenticate, visit:`, and below it the address. Null until it comes. */
export const makeAuthUrlReader = (): ((line: string) => string | null) => {
  let isAnnounced = false
  return (line) => {
    isAnnounced ||= /to authenticate, visit:/i.test(line)
    return isAnnounced ? (addressLine.exec(line)?.[1] ?? null) : null
  }
}

const mostShownChars = 200

/** The last line that says something, for people: of the errors if there are any. */
export const lastWords = ({ stderr, stdout }: CommandResult, clean: (text: string) => string): string => {
  const lines = (stderr.trim() === "" ? stdout : stderr).trim().split("\n")
  const text = lines.findLast((line) => line.trim() !== "" && !line.trim().startsWith("try `tailscale")) ?? ""
  const shown = harmless(clean(text.trim()))
  return shown.length > mostShownChars ? `${shown.slice(0, mostShownChars)}…` : shown
}
