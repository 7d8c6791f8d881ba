/** Finds who signs in among the people that the issuer's directory pushes (docs/scim.md). Pure. */
import type { IssuerScim, IssuerSettings } from "../issuers/entity.ts"
import { rolesOf } from "../issuers/rules.ts"
import type { Team } from "../teams/entity.ts"
import type { User } from "../users/entity.ts"
import type { Claims, Identity, Refusal } from "./Identity.ts"

const notPushed: Refusal = {
  refused: "The directory has not told the gateway about this account, or has removed it. Ask an administrator."
}
const isAlreadyHere: Refusal = {
  refused:
    "This account has signed in here before the directory pushed it. An administrator removes the older person first."
}
const isOwner: Refusal = {
  refused: "The person is an owner, whom this issuer makes none. Ask an owner to sign in otherwise."
}

/** Values of the attribute are compared as directories do: names without regard to case, ids with it. */
const hasValue = ({ provisioned, userName }: User, { attribute }: IssuerScim, value: string): boolean =>
  attribute === "userName" ? userName === value.toLowerCase() : provisioned?.externalId === value

const claimOf = (claims: Claims, { claim }: IssuerScim): string | null => {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null
}

/** Ids and names of the pushed groups that a person is a member of: those by which an issuer's rules name them. */
export const groupsOf = (teams: Iterable<Team>, userId: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const { externalId, members, name, source } of teams) {
    if (source !== "scim" || !members.includes(userId)) continue
    found.push(name)
    if (externalId !== null) found.push(externalId)
  }
  return found
}

/** The person that was pushed, or why this account is none; null: the issuer's directory pushes no people. */
export const pushedPerson = (
  issuer: IssuerSettings,
  { claims, issuer: at, subject }: Pick<Identity, "issuer" | "subject"> & { readonly claims: Claims },
  users: Iterable<User>
): User | Refusal | null => {
  const { scim } = issuer
  const value = scim === null ? null : claimOf(claims, scim)
  let found: User | null = null
  let older: User | null = null
  for (const user of users) {
    if (user.issuer === at && user.subject === subject) {
      // Whose link was made stays the person, also after the issuer was set otherwise.
      if (user.source === "scim") return user
      older = user
    } else if (scim !== null && value !== null && user.source === "scim" && user.issuer === null) {
      if (hasValue(user, scim, value)) found = user
    }
  }
  if (scim === null) return null
  if (found === null) return notPushed
  if (older !== null) return isAlreadyHere
  return found.role === "owner" && !rolesOf(issuer).includes("owner") ? isOwner : found
}
