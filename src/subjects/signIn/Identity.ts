/** Reads who has signed in from what an issuer says, and decides what the person is here. Pure. */
import { plainText } from "../../kernel/text/PlainText.ts"
import type { Team } from "../teams/entity.ts"
import { isEmail, type User, type UserRole, userRoles } from "../users/entity.ts"
import type { IssuerSettings } from "../issuers/entity.ts"

/** Statements of an issuer about a person, checked by its signature or read from it directly. */
export type Claims = Readonly<Record<string, unknown>>

export interface Identity {
  /** Identifier of the issuer. */
  readonly issuer: string
  /** Id of the person there, which never changes. */
  readonly subject: string
  readonly name: string
  /** In lower case. */
  readonly email: string
  readonly groups: ReadonlyArray<string>
}

/** Reason for which a sign-in is refused: a sentence for the person at the browser. */
export interface Refusal {
  readonly refused: string
}

export const isRefusal = (value: object): value is Refusal => "refused" in value

const maxGroups = 2_000
const maxChars = 300

const textOf = (claims: Claims, name: string): string => {
  const value = claims[name]
  return typeof value === "string" ? value.trim() : ""
}

/** Claims may be within others: `realm_access.roles` of Keycloak. A claim with this very name comes first. */
const claimAt = (claims: Claims, path: string): unknown => {
  if (Object.hasOwn(claims, path)) return claims[path]
  let found: unknown = claims
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Claims)[name]
  }
  return found
}

const groupsIn = (claims: Claims, path: string): ReadonlyArray<string> => {
  const value = claimAt(claims, path)
  const all: ReadonlyArray<unknown> = Array.isArray(value) ? value : typeof value === "string" ? [value] : []
  return all
    .slice(0, maxGroups)
    .filter((group) => typeof group === "string" && group.length <= maxChars) as Array<string>
}

const plainName = (text: string): string => plainText(text).slice(0, 200).trim()

/** Some issuers write it as text. */
const verified = (claims: Claims): boolean | null => {
  const value = claims["email_verified"]
  return value === true || value === "true" ? true : value === false || value === "false" ? false : null
}

const domainOf = (email: string): string => email.slice(email.lastIndexOf("@") + 1)

const emailProblem = ({ allowedDomains }: IssuerSettings, email: string, isVerified: boolean | null): string | null => {
  if (!isEmail(email)) return "The issuer names no e-mail address for this account: the client needs the scope 'email'."
  if (isVerified === false) return "The e-mail address of this account is not verified at the issuer. Verify it there."
  if (allowedDomains.length === 0) return null
  if (isVerified === null) {
    return "The issuer does not say that e-mail addresses are verified, so that a domain cannot be relied on (allowedDomains)."
  }
  return allowedDomains.includes(domainOf(email)) ? null : "People of this e-mail domain may not sign in here."
}

/** Reads the person that claims are about, or why it may not sign in. */
export const identityOf = (settings: IssuerSettings, issuer: string, claims: Claims): Identity | Refusal => {
  const subject = textOf(claims, "sub")
  const email = textOf(claims, "email").toLowerCase()
  if (subject === "" || subject.length > 255) return { refused: "The issuer names no account." }
  const problem = emailProblem(settings, email, verified(claims))
  if (problem !== null) return { refused: problem }
  const groups = groupsIn(claims, settings.groupsClaim)
  const { allowedGroups } = settings
  if (allowedGroups.length > 0 && !allowedGroups.some((group) => groups.includes(group))) {
    return { refused: "This account is in none of the groups that may sign in here." }
  }
  const name = plainName(textOf(claims, "name")) || plainName(textOf(claims, "preferred_username")) || email
  return { issuer, subject, name, email, groups }
}

/** The first of the roles, the greatest one, that a group gives; null: none does. */
const roleByGroups = ({ groupRules }: IssuerSettings, groups: ReadonlySet<string>): UserRole | null => {
  const given = new Set(groupRules.flatMap(({ group, role }) => (groups.has(group) ? (role ?? []) : [])))
  return userRoles.find((role) => given.has(role)) ?? null
}

/**
 * Role of a person who signs in. Where groups give roles they decide each time; else the default is for new people, and what an admin has
 * said of others stays. Null: the person has none, and is not let in.
 */
export const roleAt = (
  settings: IssuerSettings,
  { groups }: Pick<Identity, "groups">,
  before: User | null
): UserRole | null => {
  const given = settings.groupRules.flatMap((rule) => rule.role ?? [])
  // The role of an owner is taken away only by rules that name owners, which an owner alone may write.
  if (before?.role === "owner" && !given.includes("owner")) return "owner"
  const role = roleByGroups(settings, new Set(groups))
  if (given.length > 0) return role ?? settings.defaultRole
  return before?.role ?? settings.defaultRole
}

/** Teams that change when a person signs in: of those that rules name, people are members only by their groups. */
export const movedTeams = (
  { groupRules }: IssuerSettings,
  { groups }: Identity,
  userId: string,
  teams: ReadonlyMap<string, Team>
): ReadonlyArray<Team> => {
  const has = new Set(groups)
  const named = new Set(groupRules.flatMap(({ team }) => team ?? []))
  const joined = new Set(groupRules.flatMap(({ group, team }) => (has.has(group) ? (team ?? []) : [])))
  return [...named].flatMap((id): ReadonlyArray<Team> => {
    const team = teams.get(id)
    if (team === undefined || team.members.includes(userId) === joined.has(id)) return []
    const others = team.members.filter((member) => member !== userId)
    return [{ ...team, members: joined.has(id) ? [...others, userId] : others }]
  })
}
