/** Sets of addresses: single ones and CIDR blocks, IPv4 and IPv6. An IPv4 address that is written as an IPv6 one is the same address. */
import { BlockList, isIP } from "node:net"

interface Block {
  readonly address: string
  readonly family: "ipv4" | "ipv6"
  /** Null: the address alone. */
  readonly prefix: number | null
}

/** An IPv6 address that stands for an IPv4 one, in the shortest spelling. */
const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/

/** Longest text of an address with its prefix length. */
const maxChars = 64

/** The IPv4 address that an IPv6 address stands for; null for any other. */
const behindMapped = (address: string): string | null => {
  // The URL standard has one spelling for each address.
  const halves = mapped.exec(new URL(`http://[${address}]`).hostname.slice(1, -1))
  if (halves === null) return null
  const bytes = halves.slice(1).flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255])
  return bytes.join(".")
}

const readBlock = (text: string): Block | null => {
  if (text.length > maxChars) return null
  const [given = "", length, ...more] = text.split("/")
  if (more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return null
  const version = isIP(given)
  // A zone (`fe80::1%eth0`) means something on one machine only.
  if (version === 0 || given.includes("%")) return null
  const asV4 = version === 4 ? null : behindMapped(given)
  const isV4 = version === 4 || asV4 !== null
  const prefix = length === undefined ? null : Number(length) - (asV4 === null ? 0 : 96)
  if (prefix !== null && (prefix < 0 || prefix > (isV4 ? 32 : 128))) return null
  return { address: asV4 ?? given, family: isV4 ? "ipv4" : "ipv6", prefix }
}

/** Checks whether a text is an address or a CIDR block. */
export const isIpRange = (text: string): boolean => readBlock(text) !== null

/** A test of socket addresses against ranges; what is no range is not looked at. */
export const makeIpRanges = (ranges: ReadonlyArray<string>): ((socketAddress: string) => boolean) => {
  // A list for each: one list takes every IPv4 address for a part of `::/0`.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const block = readBlock(range)
    if (block === null) continue
    const { address, family, prefix } = block
    if (prefix === null) lists[family].addAddress(address, family)
    else lists[family].addSubnet(address, prefix, family)
  }
  return (socketAddress) => {
    const zone = socketAddress.indexOf("%")
    const block = readBlock(zone === -1 ? socketAddress : socketAddress.slice(0, zone))
    return block !== null && block.prefix === null && lists[block.family].check(block.address, block.family)
  }
}
