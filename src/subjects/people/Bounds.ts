/** Bounds of what a key may do by the role of its person, and of what it is shown. Pure. */
import { type Operation, type Reach, reachOf } from "../../contract/tiers/Rights.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import type { OwnedBy } from "../../store/usage/OwnedUsageSql.ts"
import { type ApiKey, type ApiKeySettings, directoryScope, managementScopes } from "../keys/entity.ts"
import type { OwnerBudget, ResetInterval } from "../limits/entity.ts"
import type { Team } from "../teams/entity.ts"
import type { UserRole } from "../users/entity.ts"
import { type Directory, type OwnerIds, teamsBelow, teamsFrom } from "./Owners.ts"

export interface Bounds {
  readonly role: UserRole
  readonly reach: Exclude<Reach, "none">
  readonly userId: string
  /** Teams that the person leads, with those below them; empty unless the reach is `team`. */
  readonly teams: ReadonlySet<string>
  /** Scopes of the key that asks. */
  readonly scopes: ReadonlyArray<string>
}

/** Teams that a person leads by being a member of them, with all below. */
const ledBy = (directory: Directory, userId: string): ReadonlySet<string> => {
  const led = new Set<string>()
  for (const { id, members } of directory.teams.values()) {
    if (members.includes(userId)) for (const below of teamsBelow(directory, id)) led.add(below)
  }
  return led
}

type Asking = Pick<ApiKey, "scopes" | "userId">

/** Checks whether a key may do everything that management is: by its scopes, or as a key of the owner. */
const isUnbounded = ({ scopes }: Asking, role: UserRole): boolean =>
  role === "owner" || managementScopes.some((scope) => scopes.includes(scope))

/** Bounds of an operation for a key that was let in; null: none. */
export const boundsOf = (directory: Directory, key: Asking, operation: Operation): Bounds | null => {
  const { scopes, userId } = key
  const role = userId === null ? undefined : directory.users.get(userId)?.role
  if (userId === null || role === undefined || isUnbounded(key, role)) return null
  const reach = reachOf(role, operation)
  return {
    role,
    // The route let the key in by what belongs to the person (`self:usage`): it reaches no more than that.
    reach: reach === "none" ? "own" : reach,
    userId,
    teams: reach === "team" ? ledBy(directory, userId) : new Set(),
    scopes
  }
}

/** Checks whether a key is within the bounds. */
export const reaches = (bounds: Bounds | null, { teamId, userId }: OwnerIds): boolean =>
  bounds === null || bounds.reach === "all" || userId === bounds.userId || (teamId !== null && bounds.teams.has(teamId))

/** Checks whether a team is within the bounds. */
export const reachesTeam = (bounds: Bounds | null, { id, members }: Pick<Team, "id" | "members">): boolean =>
  bounds === null || bounds.reach === "all" || bounds.teams.has(id) || members.includes(bounds.userId)

/** Checks whether the content of a team is within the bounds: being a member of it is not enough. */
export const reachesContent = (bounds: Bounds | null, { id }: Pick<Team, "id">): boolean =>
  bounds === null || bounds.reach === "all" || bounds.teams.has(id)

/** Checks whether a person is within the bounds: oneself, or a member of one of the teams. */
export const reachesUser = (bounds: Bounds | null, { teams }: Directory, id: string): boolean =>
  bounds === null ||
  bounds.reach === "all" ||
  id === bounds.userId ||
  [...bounds.teams].some((team) => teams.get(team)?.members.includes(id) === true)

/** Finds the owners whose usage is within the bounds; null: all usage is. */
export const ownedBy = (bounds: Bounds | null): OwnedBy | null =>
  bounds === null || bounds.reach === "all" ? null : { userId: bounds.userId, teamIds: [...bounds.teams] }

type KeyFacts = Pick<ApiKeySettings, "maxRequestsPerDay" | "scopes" | "teamId" | "userId">

/** Scopes that a person may give who has none of them. */
const everybodys: ReadonlySet<string> = new Set(["self:usage"])

/** Scopes whose keys make owners, and are given by owners only. */
const isOwners = (scope: string): boolean => scope === directoryScope || managementScopes.some((each) => each === scope)

const mayGive = ({ reach, scopes }: Bounds, scope: string): boolean =>
  everybodys.has(scope) || scopes.includes(scope) || (reach === "all" && !isOwners(scope))

/** Refuses secrets of keys whose person has a greater role: a secret opens what that role opens. */
const personProblem = ({ users }: Directory, bounds: Bounds, { userId }: KeyFacts): string | null => {
  const role = userId === null || userId === bounds.userId ? null : users.get(userId)?.role
  if (role === null || role === undefined) return null
  const isOpen = bounds.reach === "all" ? role !== "owner" : role === "member"
  return isOpen ? null : `The key is of a person of role '${role}', which the role '${bounds.role}' has no say over.`
}

const factsProblem = (directory: Directory, bounds: Bounds, key: KeyFacts): string | null => {
  const wider = key.scopes.find((scope) => !mayGive(bounds, scope))
  if (wider !== undefined) return `The scope '${wider}' is not the role's '${bounds.role}' to give or to touch.`
  return personProblem(directory, bounds, key)
}

const outsideTeams = "A lead gives keys of the own teams and of those below them only: name one with teamId."

/** The least of the limits that a team and those above it have; null: they have none. */
const leastOf = (teams: ReadonlyArray<Team>, limitOf: (team: Team) => number | null | undefined): number | null => {
  const limits = teams.map(limitOf).filter((limit) => typeof limit === "number" && limit > 0)
  return limits.length === 0 ? null : Math.min(...limits.map(Number))
}

const above = (what: string, most: number): string =>
  `${what} of the key would be above that of its team, or of one above it: at most ${most}.`

const requestsProblem = (directory: Directory, { maxRequestsPerDay, teamId }: KeyFacts): string | null => {
  const most = leastOf(teamsFrom(directory, teamId), ({ limits }) => limits?.requestsPerDay)
  return most !== null && (maxRequestsPerDay ?? 0) > most ? above("The limit of requests a day", most) : null
}

/** Checks a key that is made, changed or removed. `after` is null where it is removed; the refusal is a sentence. */
export const givingProblem = (
  directory: Directory,
  bounds: Bounds | null,
  before: KeyFacts | null,
  after: KeyFacts | null
): string | null => {
  if (bounds === null) return null
  for (const key of [before, after]) {
    if (key === null) continue
    if (bounds.reach !== "all" && (key.teamId === null || !bounds.teams.has(key.teamId))) return outsideTeams
    const problem = factsProblem(directory, bounds, key)
    if (problem !== null) return problem
  }
  return after === null || bounds.reach === "all" ? null : requestsProblem(directory, after)
}

/** Checks a key that gets another secret. */
export const renewingProblem = (directory: Directory, bounds: Bounds | null, key: KeyFacts): string | null =>
  bounds === null ? null : factsProblem(directory, bounds, key)

const budgetOf = (budget: OwnerBudget | null, interval: ResetInterval): number | undefined => {
  switch (interval) {
    case "daily":
      return budget?.dailyLimitNanoUsd
    case "weekly":
      return budget?.weeklyLimitNanoUsd
    case "monthly":
      return budget?.monthlyLimitNanoUsd
  }
}

const tokensOf = ({ limits }: Team, interval: ResetInterval): number | null | undefined => {
  switch (interval) {
    case "daily":
      return limits?.dailyTokens
    case "weekly":
      return limits?.weeklyTokens
    case "monthly":
      return limits?.monthlyTokens
  }
}

/** Limit of a key; of money in nano-USD. */
export interface GivenLimit {
  readonly unit: "usd" | "tokens"
  readonly interval: ResetInterval
  readonly limit: number
}

/** Checks the limits that a key would have. */
export const limitProblem = (
  directory: Directory,
  bounds: Bounds | null,
  key: KeyFacts,
  limits: ReadonlyArray<GivenLimit>
): string | null => {
  const refused = givingProblem(directory, bounds, key, null)
  if (bounds === null || refused !== null || bounds.reach === "all") return refused
  const teams = teamsFrom(directory, key.teamId)
  for (const { interval, limit, unit } of limits) {
    const most = leastOf(teams, (team) => (unit === "usd" ? budgetOf(team.budget, interval) : tokensOf(team, interval)))
    if (most === null || limit <= most) continue
    return unit === "usd"
      ? above(`The ${interval} budget`, most / nanoUsdPerUsd)
      : above(`The ${interval} limit of tokens`, most)
  }
  return null
}

/** Checks a change of a person: only an owner adds, changes or removes a person with the role `owner`. */
export const userProblem = (bounds: Bounds | null, ...roles: ReadonlyArray<UserRole | undefined>): string | null =>
  bounds === null || !roles.includes("owner") ? null : "Only an owner adds, changes or removes people of role 'owner'."
