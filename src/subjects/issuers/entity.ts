/** Issuers that sign people in: directories with OpenID Connect, and GitHub with its OAuth. */
import type * as Redacted from "effect/Redacted"
import type { UserRole } from "../users/entity.ts"

/** `github`: GitHub, or a GitHub Enterprise Server, which issues no ID tokens. */
export const issuerKinds = ["oidc", "github"] as const
export type IssuerKind = (typeof issuerKinds)[number]

/** Role and team of the members of a group at the issuer. */
export interface GroupRule {
  readonly group: string
  /** Null: the group says nothing of the role. */
  readonly role: UserRole | null
  /** Id of a team that its members are members of; null: none. */
  readonly team: string | null
}

export interface IssuerSettings {
  /** Shown on the login page. */
  readonly name: string
  readonly kind: IssuerKind
  /** Issuer identifier: the address below which its discovery document is. */
  readonly issuer: string
  readonly clientId: string
  /** Null: a public client, with PKCE alone. */
  readonly clientSecret: Redacted.Redacted | null
  readonly scopes: ReadonlyArray<string>
  /** Domains of verified e-mail addresses, in lower case; empty: all. */
  readonly allowedDomains: ReadonlyArray<string>
  /** Groups of which a person needs one; empty: none is needed. */
  readonly allowedGroups: ReadonlyArray<string>
  /** Claim with the names of a person's groups. */
  readonly groupsClaim: string
  readonly groupRules: ReadonlyArray<GroupRule>
  /** Role of people whom no group gives one; null: they are not let in. */
  readonly defaultRole: UserRole | null
  readonly isEnabled: boolean
}

export interface Issuer extends IssuerSettings {
  readonly id: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Each is a button on the login page. */
export const maxIssuers = 16
export const maxGroupRules = 200

export const githubAddress = "https://github.com"
