/**
 * A registered key is an API key that a program asked for, tied to one provider and at most one of its accounts. What it may do, and what it has
 * used, are matters of the API key; here is only what is beside that.
 */

export interface Registration {
  /** Id of the API key. */
  readonly keyId: string
  readonly provider: string
  /** Id of a connection of the provider; null: any of them. */
  readonly accountId: string | null
  /** SHA-256 of the caller's idempotency key, lower-case hex; null: none was given. */
  readonly idempotencyHash: string | null
  readonly issuedAtMs: number
  /** Null: not revoked. */
  readonly revokedAtMs: number | null
}

/** Scope of the keys that are counted. */
export interface IssueScope {
  readonly scope: "provider" | "account"
  /** Id of the provider, or of the connection. */
  readonly subject: string
}

/** Null: no limit. 0: no key is issued. */
export interface IssueLimits {
  /** Keys that work at the same time. */
  readonly maxActiveKeys: number | null
  /** Keys issued in any 24 hours. */
  readonly dailyIssueLimit: number | null
  /** Keys issued in any hour. */
  readonly hourlyIssueLimit: number | null
}

export const noIssueLimits: IssueLimits = { maxActiveKeys: null, dailyIssueLimit: null, hourlyIssueLimit: null }

/** Counts that are compared with the limits. */
export interface IssueCounts {
  readonly activeKeys: number
  readonly dailyIssued: number
  readonly hourlyIssued: number
}

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

export interface ExceededLimit {
  readonly limit: keyof IssueLimits
  readonly most: number
}

/** The limit that holds back another key; null when none does. The one that takes longest to open comes first. */
export const exceededOf = (limits: IssueLimits, counts: IssueCounts): ExceededLimit | null => {
  const pairs = [
    ["maxActiveKeys", counts.activeKeys],
    ["dailyIssueLimit", counts.dailyIssued],
    ["hourlyIssueLimit", counts.hourlyIssued]
  ] as const
  for (const [limit, count] of pairs) {
    const most = limits[limit]
    if (most !== null && count >= most) return { limit, most }
  }
  return null
}
