/**
 * A provider connection: one account at one provider. `Connection` is the internal record; the masked view that callers see is
 * declared in `src/contract`.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import type { Transport } from "../../contract/domain/Transport.ts"
import type { WireName } from "../../contract/domain/Wire.ts"

export const AuthType = Schema.Literal("apikey", "oauth", "none")
export type AuthType = typeof AuthType.Type

export const AccountTier = Schema.Literal("ultra", "pro", "standard", "free")
export type AccountTier = typeof AccountTier.Type

/** `unavailable` is a passing cooldown; banned, expired and credits_exhausted are terminal until an operator acts. */
export const TestStatus = Schema.Literal("unknown", "active", "unavailable", "banned", "expired", "credits_exhausted")
export type TestStatus = typeof TestStatus.Type

/** Request headers by name. Any value may be a key, so all of them are redacted. */
export type SecretHeaders = Readonly<Record<string, Redacted.Redacted>>

/** Token set of an OAuth account. `expiresAtMs` is epoch milliseconds. */
export interface OAuthTokens {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted | null
  readonly expiresAtMs: number | null
  readonly clientId: string | null
  readonly clientSecret: Redacted.Redacted | null
  readonly tokenUrl: string | null
}

export const QuotaWindow = Schema.Literal("5h", "hourly", "daily", "weekly", "monthly")
export const QuotaUnit = Schema.Literal("requests", "tokens", "usd", "percent")

export const quotaWords = {
  window: "The time after which it is renewed.",
  unit: "What is counted.",
  resetAt: "One moment at which the window resets, ISO 8601; from there on windows follow one another."
} as const

/** A quota the operator declared; otherwise quotas are learned from response headers. */
export const DeclaredQuota = Schema.Struct({
  window: field(QuotaWindow, quotaWords.window, "daily"),
  unit: field(QuotaUnit, quotaWords.unit),
  limit: field(Schema.Positive, "How much of the unit each window has.", 1_000),
  resetAt: field(
    Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }),
    quotaWords.resetAt,
    "2026-03-01T12:00:00.000Z"
  )
})
export type DeclaredQuota = typeof DeclaredQuota.Type

/** Settings by the operator. */
export interface ConnectionSettings {
  readonly provider: string
  readonly name: string
  readonly authType: AuthType
  readonly apiKey: Redacted.Redacted | null
  readonly oauth: OAuthTokens | null
  readonly baseUrl: string | null
  readonly wires: ReadonlyArray<WireName> | null
  readonly defaultModel: string | null
  readonly models: ReadonlyArray<string>
  /** Lower is tried first. */
  readonly priority: number
  readonly tier: AccountTier | null
  readonly maxConcurrent: number | null
  readonly headers: SecretHeaders | null
  readonly quotas: ReadonlyArray<DeclaredQuota>
  readonly isActive: boolean
  /** False: its calls go direct whatever proxies are assigned. */
  readonly proxyEnabled: boolean
  /** Settings for the sockets; null: the usual ones. */
  readonly transport: Transport | null
}

/** State observed by the gateway. Times are epoch milliseconds. */
export interface ConnectionHealth {
  readonly testStatus: TestStatus
  readonly rateLimitedUntilMs: number | null
  readonly lastError: string | null
  readonly lastErrorType: string | null
  readonly errorCode: string | null
  readonly backoffLevel: number
}

export interface Connection extends ConnectionSettings, ConnectionHealth {
  readonly id: string
  readonly source: "db" | "env"
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /**
   * Id of the proxy for its calls, only while it is not saved; null: none of its own, whatever is assigned. A saved one has an assignment
   * (`subjects/proxies/entity.ts`).
   */
  readonly unsavedProxyId?: string | null
}

export const healthy: ConnectionHealth = {
  testStatus: "unknown",
  rateLimitedUntilMs: null,
  lastError: null,
  lastErrorType: null,
  errorCode: null,
  backoffLevel: 0
}
