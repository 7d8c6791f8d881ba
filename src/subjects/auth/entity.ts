/** Ways in which a session begins: by the admin password, or by a code of the owner's. */
export const sessionWays = ["password", "code"] as const
export type SessionWay = (typeof sessionWays)[number]

/** Kinds of callers, as they are told who they are. */
export const principalTypes = ["session", "apiKey", "adminKey", "owner", "anonymous"] as const
export type PrincipalType = (typeof principalTypes)[number]

/** Facts of the login that a session began with. */
export interface SessionOrigin {
  readonly via: SessionWay
  /** Address of the caller, as it is shown in logs; empty: not known. */
  readonly address: string
  /** `User-Agent` of the browser, cut; empty: none. */
  readonly userAgent: string
}

/** An admin session. Only hashes are stored; the cookie holds the id. */
export interface Session extends SessionOrigin {
  /** SHA-256 of the cookie value, lower-case hex. */
  readonly idHash: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  readonly expiresAtMs: number
}
