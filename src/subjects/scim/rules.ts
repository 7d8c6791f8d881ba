/** Turns resources of SCIM into people and teams, and says who gets which role. Pure. */
import type { IssuerSettings } from "../issuers/entity.ts"
import type { Directory } from "../people/Owners.ts"
import { roleAt } from "../signIn/Identity.ts"
import type { Team } from "../teams/entity.ts"
import type { User, UserRole } from "../users/entity.ts"
import { badValue, type ScimError } from "./entity.ts"
import type { GroupDraft } from "./GroupResource.ts"
import { addressOf, type Draft, keyOf, nameOf } from "./UserResource.ts"

/** The issuer whose directory pushes; null: no issuer was set so. */
export type Pushing = IssuerSettings | null

/** Role of a person by its groups; who has none by them is a viewer where the issuer lets no such people in. */
export const roleOf = (issuer: Pushing, groups: ReadonlyArray<string>, before: User | null): UserRole => {
  if (issuer === null) return before?.role ?? "member"
  return roleAt(issuer, { groups }, before) ?? "viewer"
}

/** Facts of a person that a directory decides. */
export const pushedFacts = ({ active, provisioned }: Draft) => ({
  name: nameOf(provisioned),
  email: addressOf(provisioned) ?? "",
  userName: keyOf(provisioned),
  provisioned,
  source: "scim" as const,
  state: active ? ("active" as const) : ("suspended" as const)
})

/** A person that a directory pushes for the first time. */
export const newUser = (id: string, draft: Draft, role: UserRole, nowMs: number): User => ({
  ...pushedFacts(draft),
  id,
  issuer: null,
  subject: null,
  role,
  budget: null,
  limits: null,
  createdAtMs: nowMs,
  updatedAtMs: nowMs
})

export const newTeam = (id: string, parent: string | null, nowMs: number): Team => ({
  id,
  name: "",
  source: "scim",
  externalId: null,
  parent,
  budget: null,
  models: null,
  limits: null,
  rate: 1,
  content: "none",
  contentNotice: null,
  members: [],
  createdAtMs: nowMs,
  updatedAtMs: nowMs
})

export const isPushedUser = (user: User | undefined): user is User & { readonly provisioned: Draft["provisioned"] } =>
  user?.source === "scim" && user.provisioned !== null

/** Members that a directory has pushed, in their order. */
export const pushedMembers = ({ users }: Directory, { members }: Team): ReadonlyArray<string> =>
  members.filter((id) => isPushedUser(users.get(id)))

/** A team with what its group says. Members that were added by hand stay. */
export const withGroup = (
  { users }: Directory,
  team: Team,
  { displayName, externalId, members }: GroupDraft,
  updatedAtMs: number
): Team | ScimError => {
  for (const id of members) {
    if (!isPushedUser(users.get(id))) return badValue(`There is no person '${id.slice(0, 100)}' of this directory.`)
  }
  const byHand = team.members.filter((id) => !isPushedUser(users.get(id)))
  return { ...team, name: displayName, externalId, members: [...byHand, ...members], updatedAtMs }
}

/** A team without a member. */
export const without = (team: Team, userId: string): Team => ({
  ...team,
  members: team.members.filter((member) => member !== userId)
})

/** Names of a team by which an issuer's rules name it. */
const namesOf = ({ externalId, name }: Team): ReadonlyArray<string> =>
  externalId === null ? [name] : [name, externalId]

/**
 * People whose role another state of a team makes another one. Only its members, before or after, are looked at, and the groups of all
 * of them are read at once.
 */
export const movedRoles = (
  issuer: Pushing,
  { teams, users }: Directory,
  { after, before }: { readonly before: Team | null; readonly after: Team | null },
  updatedAtMs: number
): ReadonlyArray<User> => {
  const named = new Set(issuer?.groupRules.flatMap(({ group, role }) => (role === null ? [] : [group])))
  const touched = [before, after].flatMap((team) => (team === null ? [] : namesOf(team)))
  if (issuer === null || !touched.some((name) => named.has(name))) return []
  const ids = new Set([...(before?.members ?? []), ...(after?.members ?? [])])
  const others = [...teams.values()].filter(({ id, source }) => source === "scim" && id !== (before ?? after)?.id)
  const groups = new Map<string, Array<string>>(Array.from(ids, (id) => [id, []]))
  for (const team of after === null ? others : [...others, after]) {
    const names = namesOf(team).filter((name) => named.has(name))
    if (names.length === 0) continue
    for (const id of team.members) groups.get(id)?.push(...names)
  }
  const moved: Array<User> = []
  for (const [id, names] of groups) {
    const user = users.get(id)
    if (!isPushedUser(user)) continue
    const role = roleOf(issuer, names, user)
    if (role !== user.role) moved.push({ ...user, role, updatedAtMs })
  }
  return moved
}
