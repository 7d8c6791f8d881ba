/** Addresses of mail servers as webhooks have them: `smtps://host[:port]` for TLS from the first byte, else `smtp://host[:port]`. Pure. */
import type { MailServer } from "../../net/egress/Mail.ts"

const ports: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 }

/** Null: it is no such address, or has more than a host and a port. */
export const serverOf = (url: string): MailServer | null => {
  if (!URL.canParse(url)) return null
  const { hash, hostname, password, pathname, port, protocol, search, username } = new URL(url)
  const usual = ports[protocol]
  const isPlain = `${username}${password}${search}${hash}` === "" && (pathname === "" || pathname === "/")
  if (usual === undefined || hostname === "" || !isPlain) return null
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? usual : Number(port) }
}

export const isMailAddress = (url: string): boolean => /^smtps?:/i.test(url)
