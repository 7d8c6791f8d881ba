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

/** Values of a directory's people by which one of them is known at a sign-in. */
export const matchedAttributes = ["externalId", "userName"] as const

/** The issuer's directory also pushes its people (docs/scim.md). */
export interface IssuerScim {
  /** Claim of a sign-in that has the value of the attribute. */
  readonly claim: string
  readonly attribute: (typeof matchedAttributes)[number]
  /** Id of the team below which the teams of pushed groups are made; null: none. */
  readonly parent: string | null
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
  /** Of one issuer at most; null: people who sign in by it are not those that are pushed. */
  readonly scim: IssuerScim | null
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
