/**
 * The format of a gateway key: `gw_` (`gwr_` of a registered key, `gws_` of a login at the command line), 32 random bytes in base62, 6 characters of checksum. The checksum lets scanners and this code
 * recognise a mistyped or foreign key without a look-up. Keys have 256 bits of entropy, so a plain SHA-256 is enough to store them.
 */
import { hash as digest } from "node:crypto"
import { crc32 } from "node:zlib"
import { hasLoginMarker, type KeyMarker, loginMarker, markerOf } from "../../kernel/secrets/GatewayKey.ts"

const bodyLength = 43
const checksumLength = 6
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const base62 = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; rest > 0n; rest /= 62n) text = `${alphabet[Number(rest % 62n)]}${text}`
  return text.padStart(length, "0")
}

const checksum = (body: string): string => base62(BigInt(crc32(body)), checksumLength)

/** Formats a key from 32 random bytes. */
export const formatKey = (random: Uint8Array, marker: KeyMarker | typeof loginMarker = "gw_"): string => {
  const body = base62(BigInt(`0x${Buffer.from(random).toString("hex")}`), bodyLength)
  return `${marker}${body}${checksum(body)}`
}

const fits = (text: string, marker: string): boolean => {
  if (text.length !== marker.length + bodyLength + checksumLength) return false
  const body = text.slice(marker.length, marker.length + bodyLength)
  return checksum(body) === text.slice(-checksumLength)
}

/** Checks whether a text is a well-formed key; it need not exist. */
export const isWellFormed = (key: string): boolean => {
  const marker = markerOf(key)
  return marker !== null && fits(key, marker)
}

/** Checks whether a text is the well-formed credential of a login at the command line; it need not exist. */
export const isLoginToken = (text: string): boolean => hasLoginMarker(text) && fits(text, loginMarker)

/**
 * Returns the part of a key that listings show: enough for a person to recognise it, far too little to guess the rest.
 */
export const prefixOf = (key: string): string => key.slice(0, 8)

/** SHA-256 of the whole key, lower-case hex: what is stored and looked up. */
export const hashKey = (key: string): string => digest("sha256", key, "hex")
