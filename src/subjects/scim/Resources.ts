/** People and teams as resources of SCIM, by what is asked of them. Pure. */
import type { JsonObject } from "../../wire/json/Json.ts"
import type { Directory } from "../people/Owners.ts"
import type { Team } from "../teams/entity.ts"
import type { User } from "../users/entity.ts"
import { type Provisioned, type ProvisionedEmail, schemaIds } from "./entity.ts"
import type { Attributes } from "./Filter.ts"
import { pushedMembers } from "./rules.ts"

/** A person of a directory. */
export type PushedUser = User & { readonly provisioned: Provisioned }

/** Attributes that are in an answer: `attributes` and `excludedAttributes` (RFC 7644, 3.9), in lower case; null: not said. */
export interface Selection {
  readonly wanted: ReadonlySet<string> | null
  readonly unwanted: ReadonlySet<string>
}

export const everything: Selection = { wanted: null, unwanted: new Set() }

const always: ReadonlySet<string> = new Set(["id", "schemas"])

export const isShown = ({ unwanted, wanted }: Selection, name: string): boolean => {
  const lower = name.toLowerCase()
  if (always.has(lower)) return true
  if (wanted !== null) return [...wanted].some((each) => each === lower || each.startsWith(`${lower}.`))
  return !unwanted.has(lower)
}

const selected = (resource: JsonObject, selection: Selection): JsonObject =>
  Object.fromEntries(Object.entries(resource).filter(([name, value]) => value !== null && isShown(selection, name)))

/** Tag of a person's state. */
export const userVersion = ({ updatedAtMs }: User): string => `W/"${updatedAtMs.toString(36)}"`

/** ETag of a group. It covers the number of members, because a person that is removed leaves the group without changing its time of update. */
export const groupVersion = ({ members, updatedAtMs }: Team): string =>
  `W/"${updatedAtMs.toString(36)}-${members.length.toString(36)}"`

const iso = (ms: number): string => new Date(ms).toISOString()

const metaOf = (resourceType: "User" | "Group", at: User | Team, base: string, version: string): JsonObject => ({
  resourceType,
  created: iso(at.createdAtMs),
  lastModified: iso(at.updatedAtMs),
  location: `${base}/${resourceType}s/${at.id}`,
  version
})

const nameOf = ({ familyName, formatted, givenName }: Provisioned): JsonObject | null => {
  const parts = Object.entries({ formatted, familyName, givenName }).filter(([, value]) => value !== null)
  return parts.length === 0 ? null : Object.fromEntries(parts)
}

const emailResource = ({ primary, type, value }: ProvisionedEmail): JsonObject =>
  type === null ? { value, primary } : { value, type, primary }

export const userResource = (
  user: PushedUser,
  { teams }: Directory,
  base: string,
  selection: Selection = everything
): JsonObject => {
  const { displayName, emails, externalId, userName } = user.provisioned
  const groups = isShown(selection, "groups")
    ? [...teams.values()].filter(({ members, source }) => source === "scim" && members.includes(user.id))
    : []
  return selected(
    {
      schemas: [schemaIds.user],
      id: user.id,
      externalId,
      userName,
      name: nameOf(user.provisioned),
      displayName: displayName ?? user.name,
      emails: emails.map(emailResource),
      active: user.state === "active",
      groups: groups.map(({ id, name }) => ({
        value: id,
        display: name,
        type: "direct",
        $ref: `${base}/Groups/${id}`
      })),
      meta: metaOf("User", user, base, userVersion(user))
    },
    selection
  )
}

export const groupResource = (
  team: Team,
  directory: Directory,
  base: string,
  selection: Selection = everything
): JsonObject => {
  const members = isShown(selection, "members") ? pushedMembers(directory, team) : []
  return selected(
    {
      schemas: [schemaIds.group],
      id: team.id,
      externalId: team.externalId,
      displayName: team.name,
      members: members.map((id) => ({ value: id, display: directory.users.get(id)?.name ?? id, type: "User" })),
      meta: metaOf("Group", team, base, groupVersion(team))
    },
    selection
  )
}

const emails = { isExact: false, valuesOf: (user: PushedUser) => user.provisioned.emails.map(({ value }) => value) }

/** Attributes by which people are filtered. */
export const userAttributes: Attributes<PushedUser> = {
  username: { isExact: false, valuesOf: ({ provisioned }) => [provisioned.userName] },
  externalid: { isExact: true, valuesOf: ({ provisioned }) => [provisioned.externalId] },
  "emails.value": emails,
  emails,
  displayname: { isExact: false, valuesOf: ({ name, provisioned }) => [provisioned.displayName ?? name] },
  active: { isExact: false, valuesOf: ({ state }) => [state === "active"] },
  id: { isExact: true, valuesOf: ({ id }) => [id] }
}

const member = {
  isExact: true,
  valuesOf: ({ members }: Team) => members,
  has: ({ members }: Team, id: string) => members.includes(id)
}

/** Attributes by which groups are filtered. */
export const groupAttributes: Attributes<Team> = {
  displayname: { isExact: false, valuesOf: ({ name }) => [name] },
  externalid: { isExact: true, valuesOf: ({ externalId }) => [externalId] },
  "members.value": member,
  members: member,
  id: { isExact: true, valuesOf: ({ id }) => [id] }
}
