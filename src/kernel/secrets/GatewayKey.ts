/** Prefixes of keys made by a gateway: those that people make, and those that programs register. */
export const keyMarkers = ["gw_", "gwr_"] as const
export type KeyMarker = (typeof keyMarkers)[number]

/** The marker that a credential starts with; null: it is no key of a gateway. */
export const markerOf = (key: string): KeyMarker | null => keyMarkers.find((marker) => key.startsWith(marker)) ?? null

/**
 * Checks whether a credential, with or without a scheme before it, is a gateway's own and so never meant for a
 * provider.
 */
export const isGatewayKey = (credential: string): boolean =>
  markerOf(credential.trim().replace(/^bearer\s+/i, "")) !== null
