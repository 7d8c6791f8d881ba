/** Prefixes of keys made by a gateway: those that people make, and those that programs register. */
export const keyMarkers = ["gw_", "gwr_"] as const
export type KeyMarker = (typeof keyMarkers)[number]

/** Prefix of the credential that a login of a person at the command line is given. It is no key: it asks no models. */
export const loginMarker = "gws_"

/** The marker that a key starts with; null: it is no key of a gateway. */
export const markerOf = (key: string): KeyMarker | null => keyMarkers.find((marker) => key.startsWith(marker)) ?? null

/** Checks whether a credential begins as that of a login at the command line does. */
export const hasLoginMarker = (credential: string): boolean => credential.startsWith(loginMarker)

/**
 * Checks whether a credential, with or without a scheme before it, is a gateway's own and so never meant for a
 * provider.
 */
export const isGatewayKey = (credential: string): boolean => {
  const bare = credential.trim().replace(/^bearer\s+/i, "")
  return markerOf(bare) !== null || hasLoginMarker(bare)
}
