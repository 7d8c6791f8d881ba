/** Every key made by a gateway starts with this. */
export const gatewayKeyMarker = "gw_"

/** Whether a credential, with or without a scheme before it, is a gateway's own and so never meant for a provider. */
export const isGatewayKey = (credential: string): boolean =>
  credential
    .trim()
    .replace(/^bearer\s+/i, "")
    .startsWith(gatewayKeyMarker)
