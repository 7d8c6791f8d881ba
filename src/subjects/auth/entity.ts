/**
 * Ways in which a session begins: by the admin password, by a code of the owner's, by an issuer that signs people in, or at the command line of a person
 * who has allowed it in the browser.
 */
export const sessionWays = ["password", "code", "issuer", "commandLine"] as const
export type SessionWay = (typeof sessionWays)[number]

/**
 * Names of the session's cookie: over TLS for the whole host, over TLS below a path of a proxy, and without TLS. Browsers take the first two with
 * `Secure` only, and the first for no other path or host.
 */
export const cookieNames = ["__Host-gateway_session", "__Secure-gateway_session", "gateway_session"] as const
export type CookieName = (typeof cookieNames)[number]

/** Kinds of callers, as they are told who they are. */
export const principalTypes = ["session", "apiKey", "adminKey", "owner", "anonymous"] as const
export type PrincipalType = (typeof principalTypes)[number]

/** Facts of the login that a session began with. */
export interface SessionOrigin {
  readonly via: SessionWay
  /** Address of the caller, as it is shown in logs; empty: not known. */
  readonly address: string
  /** `User-Agent` of the browser, or name of the machine with the command line, cut; empty: none. */
  readonly userAgent: string
}

/** Owner of a session. */
export interface SessionOwner {
  /** Person who has signed in; null: the administrator, by the password or a code. */
  readonly userId: string | null
  /** Issuer that signed the person in; null: none. */
  readonly issuerId: string | null
}

export const administrator: SessionOwner = { userId: null, issuerId: null }

/** A session of the administrator or of a person. Only hashes are stored; the cookie, or the credential of the command line, holds the id. */
export interface Session extends SessionOrigin, SessionOwner {
  /** SHA-256 of the value of the cookie or of the credential, lower-case hex. */
  readonly idHash: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  readonly expiresAtMs: number
}
