/** A gateway API key. Only a hash and a short prefix are kept; the secret is shown once. */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import type { ContentReaders } from "../teams/entity.ts"
import type { UserRole } from "../users/entity.ts"

/** Scopes that open the management routes; `admin` includes `manage`. */
export const managementScopes = ["manage", "admin"] as const

/** Scope of a directory that pushes people and teams (SCIM). */
export const directoryScope = "scim"

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
  directoryScope,
  "self:usage",
  "self:account-quota",
  "read:metrics",
  "guardrails:bypass",
  "policy:bypass-provider-quota",
  ...toolScopes
] as const
export type KeyScope = (typeof keyScopes)[number]

/** `limit` requests per `window` seconds. */
export const RateLimit = Schema.Struct({
  limit: field(Schema.Positive.pipe(Schema.int()), "Most requests in a window.", 60),
  window: field(Schema.Positive, "Length of the window in seconds.", 60)
})
export type RateLimit = typeof RateLimit.Type

/** Purposes of the inference routes. */
export const endpointCategories = [
  "chat",
  "search",
  "embeddings",
  "images",
  "audio",
  "video",
  "music",
  "rerank",
  "models",
  "moderations",
  "batches",
  "files",
  "web-fetch",
  "agents"
] as const
export type EndpointCategory = (typeof endpointCategories)[number]

/** Times at which a key may be used, in the wall-clock time of a zone. `from` equal to `until` means whole days. */
export interface AccessSchedule {
  readonly enabled: boolean
  /** `HH:MM`. */
  readonly from: string
  /** `HH:MM`, not included. Not after `from`: on the next day. */
  readonly until: string
  /** The days on which it begins, 0 is Sunday. */
  readonly days: ReadonlyArray<number>
  /** A name of the IANA database. */
  readonly tz: string
}

/** Settings of an API key. In patterns `*` stands for any text. A list without entries allows everything. */
export interface ApiKeySettings {
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  /** Model ids or patterns; null or empty means every model. */
  readonly allowedModels: ReadonlyArray<string> | null
  /** Model ids or patterns that are refused, whatever else is allowed. */
  readonly blockedModels: ReadonlyArray<string>
  readonly allowedEndpoints: ReadonlyArray<EndpointCategory>
  /** Names of combos, or patterns. */
  readonly allowedCombos: ReadonlyArray<string>
  /** Ids of providers, or prefixes of nodes. */
  readonly allowedProviders: ReadonlyArray<string>
  /** Ids of connections. */
  readonly allowedConnections: ReadonlyArray<string>
  /** Addresses and CIDR blocks, IPv4 and IPv6. */
  readonly ipAllowlist: ReadonlyArray<string>
  readonly expiresAtMs: number | null
  readonly rateLimits: ReadonlyArray<RateLimit>
  /** Null or 0: no limit, here and in the next two. */
  readonly maxRequestsPerDay: number | null
  readonly maxRequestsPerMinute: number | null
  /** Requests in progress at the same time. */
  readonly maxSessions: number | null
  readonly accessSchedule: AccessSchedule | null
  /** Nothing of what is said is kept; what it cost is. */
  readonly noLog: boolean
  readonly isActive: boolean
  /** Id of the person it belongs to; null: none. */
  readonly userId: string | null
  /** Id of the team it belongs to, or for which the person uses it; null: none. */
  readonly teamId: string | null
  /** Since when it belongs to them; null: since it was made. */
  readonly ownedSinceMs: number | null
}

/** Defaults for the rights of a key. */
export const unrestricted: Omit<ApiKeySettings, "name"> = {
  scopes: [],
  allowedModels: null,
  blockedModels: [],
  allowedEndpoints: [],
  allowedCombos: [],
  allowedProviders: [],
  allowedConnections: [],
  ipAllowlist: [],
  expiresAtMs: null,
  rateLimits: [],
  maxRequestsPerDay: null,
  maxRequestsPerMinute: null,
  maxSessions: null,
  accessSchedule: null,
  noLog: false,
  isActive: true,
  userId: null,
  teamId: null,
  ownedSinceMs: null
}

/** A secret that a rotation has replaced, and that works until its time is over. */
export interface OldSecret {
  readonly hash: string
  readonly untilMs: number
}

export interface ApiKey extends ApiKeySettings {
  readonly id: string
  /** First characters of the secret, enough for a person to recognise it. */
  readonly prefix: string
  /** SHA-256 of the whole secret, lower-case hex. */
  readonly hash: string
  /** Old secrets; the one that ends last comes first. */
  readonly oldSecrets: ReadonlyArray<OldSecret>
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  /** Rules of its owners; they are not stored with it. Absent: none. */
  readonly owners?: OwnerRules
}

/** Rules that a key has of the person and the teams that it belongs to. */
export interface OwnerRules {
  /** False: the person is suspended, is no member of the team, or one of them is no more. */
  readonly mayUse: boolean
  /** Name of the person; null: it belongs to no person. */
  readonly person: string | null
  /** Role of the person; null: it belongs to none. */
  readonly role: UserRole | null
  /** Lists of models of the team and of those above it, of which each has to allow a model. */
  readonly models: ReadonlyArray<ReadonlyArray<string>>
  /** Rule about content of the team's keys; null: the key is of no team. */
  readonly content: ContentRule | null
}

export interface ContentRule {
  readonly teamId: string
  readonly readers: ContentReaders
  /** Text that members are told. */
  readonly notice: string
}

/** The caller, as inference and management see it. */
/** Person of a session, as it is at the time of the request. */
export interface SessionPerson {
  readonly userId: string
  readonly name: string
  readonly role: UserRole
}

export type Principal =
  | { readonly _tag: "Anonymous" }
  | { readonly _tag: "AdminKey" }
  | { readonly _tag: "Owner" }
  | {
      readonly _tag: "Session"
      readonly sessionId: string
      /** Person who has signed in; absent: the administrator, by the password or a code. */
      readonly person?: SessionPerson
      /** The session is a login at the command line, which came as a bearer credential. */
      readonly isCommandLine?: true
    }
  | {
      readonly _tag: "Key"
      readonly key: ApiKey
      /** Id of the admin session that acts with the key's rights (`X-Gateway-As-Key`); absent: the key itself was sent. */
      readonly actingSessionId?: string
    }
