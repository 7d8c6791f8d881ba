/** The address at which an issuer sends browsers back. Pure. */
import { addressFamily } from "../../net/egress/OutboundPolicy.ts"
import { headerOf, publicAddressHeader, requestedAddress, type RequestHeaders } from "../auth/Credentials.ts"
import { isOwnHost } from "../auth/Loopback.ts"

export interface AddressRules {
  /** `NEXT_PUBLIC_BASE_URL` where it is set; null: not. */
  readonly signInUrl: string | null
  /** The setting `allowedHosts`. */
  readonly allowedHosts: ReadonlySet<string>
}

/** A host by a name that the settings allow, or by an address: no page can have chosen either. */
const isAllowed = (host: string, { allowedHosts }: AddressRules): boolean => {
  const name = host.toLowerCase().replace(/:\d+$/, "")
  const bare = name.replace(/^\[|\]$/g, "")
  return isOwnHost(host) || addressFamily(bare) !== 0 || allowedHosts.has(bare)
}

/** Base of the address: the public address, else that of the request where the settings allow its host; null: they do not. */
export const returnBase = (headers: RequestHeaders, rules: AddressRules): string | null => {
  if (rules.signInUrl !== null) return rules.signInUrl
  if (headers[publicAddressHeader] === undefined && !isAllowed(headerOf(headers, "host") ?? "", rules)) return null
  return requestedAddress(headers)?.replace(/\/+$/, "") ?? null
}

export const redirectUriOf = (base: string, issuerId: string): string =>
  `${base}/api/sign-in/${encodeURIComponent(issuerId)}/callback`
