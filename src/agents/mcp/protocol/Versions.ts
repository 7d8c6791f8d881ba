/** Versions of the protocol: https://modelcontextprotocol.io/specification/versioning */

/** The newest first. */
export const protocolVersions = ["2025-11-25", "2025-06-18", "2025-03-26"] as const
export type ProtocolVersion = (typeof protocolVersions)[number]

export const latestVersion: ProtocolVersion = protocolVersions[0]

/** Version of a request without the header `MCP-Protocol-Version`, by the specification. */
export const headerlessVersion: ProtocolVersion = "2025-03-26"

export const isProtocolVersion = (text: unknown): text is ProtocolVersion =>
  protocolVersions.some((version) => version === text)

/** The version both sides speak: the client's, or else the newest of this side, which the client may refuse. */
export const negotiated = (asked: unknown): ProtocolVersion => (isProtocolVersion(asked) ? asked : latestVersion)
