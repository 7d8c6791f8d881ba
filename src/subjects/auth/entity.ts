/** An admin session. Only hashes are stored; the cookie holds the id. */
export interface Session {
  /** SHA-256 of the cookie value, lower-case hex. */
  readonly idHash: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  readonly expiresAtMs: number
}
