/** How this kind of gateway marks the keys it makes. */
export const gatewayKeyMarker = "gw_"

/** Whether a credential, with or without a scheme before it, is a gateway's own: never one for a provider. */
export const isGatewayKey = (credential: string): boolean =>
  credential
    .trim()
    .replace(/^bearer\s+/i, "")
    .startsWith(gatewayKeyMarker)
