/** A gateway API key. Only a hash and a short prefix are kept; the secret is shown once. */
import * as Schema from "effect/Schema"
import { field } from "../kernel/Documented.ts"

/** Scopes that open the management routes; `admin` includes `manage`. */
export const managementScopes = ["manage", "admin"] as const

const toolScopes = [
  "execute:completions",
  "execute:search",
  "execute:skills",
  "pricing:write",
  "read:cache",
  "read:catalog",
  "read:combos",
  "read:compression",
  "read:gamification",
  "read:health",
  "read:memory",
  "read:models",
  "read:notion",
  "read:obsidian",
  "read:plugins",
  "read:proxies",
  "read:quota",
  "read:skills",
  "read:tools",
  "read:usage",
  "write:budget",
  "write:cache",
  "write:combos",
  "write:compression",
  "write:gamification",
  "write:memory",
  "write:notion",
  "write:obsidian",
  "write:plugins",
  "write:resilience",
  "write:skills"
] as const

/** Every scope a key may have. No scope means inference only. */
export const keyScopes = [
  ...managementScopes,
  "self:usage",
  "self:account-quota",
  "guardrails:bypass",
  "policy:bypass-provider-quota",
  ...toolScopes
] as const

/** `limit` requests per `window` seconds. */
export const RateLimit = Schema.Struct({
  limit: field(Schema.Positive.pipe(Schema.int()), "Most requests in a window.", 60),
  window: field(Schema.Positive, "Length of the window in seconds.", 60)
})
export type RateLimit = typeof RateLimit.Type

export interface ApiKeySettings {
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  /** Model ids or patterns with a trailing `*`; null or empty means every model. */
  readonly allowedModels: ReadonlyArray<string> | null
  readonly expiresAtMs: number | null
  readonly rateLimits: ReadonlyArray<RateLimit>
  readonly isActive: boolean
}

export interface ApiKey extends ApiKeySettings {
  readonly id: string
  /** First characters of the secret, enough for a person to recognise it. */
  readonly prefix: string
  /** SHA-256 of the whole secret, lower-case hex. */
  readonly hash: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
}

/** The caller, as inference and management see it. */
export type Principal =
  | { readonly _tag: "Anonymous" }
  | { readonly _tag: "AdminKey" }
  | { readonly _tag: "Owner" }
  | { readonly _tag: "Session"; readonly sessionId: string }
  | { readonly _tag: "Key"; readonly key: ApiKey }
