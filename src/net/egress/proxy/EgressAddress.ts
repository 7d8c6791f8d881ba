/** The address that an echo service saw, and its family. Pure. */
import { isIP } from "node:net"
import type { ProxyFamily } from "../../../subjects/proxies/entity.ts"

const readBytes = 4_096

/** The address in an answer: the whole text, or `ip` or `origin` of a JSON object; null when it has none. */
export const addressIn = (body: Buffer): string | null => {
  const text = body.subarray(0, readBytes).toString("utf8").trim()
  if (isIP(text) !== 0) return text
  const found = /"(?:ip|origin)"\s*:\s*"([\d.:a-fA-F]{2,45})"/.exec(text)?.[1] ?? ""
  return isIP(found) === 0 ? null : found
}

const families: Readonly<Record<number, ProxyFamily>> = { 4: "ipv4", 6: "ipv6" }

/** Null when it is no address. */
export const familyOf = (address: string | null): ProxyFamily | null => families[isIP(address ?? "")] ?? null
