/** The owners of keys: the person, the team and the teams above it. Pure. */
import type { ApiKey, OwnerRules } from "../keys/entity.ts"
import { type Team, maxTeamLevels, noticeOf } from "../teams/entity.ts"
import type { User } from "../users/entity.ts"

/** Ids of the owners of a key; null: none of that kind. */
export type OwnerIds = Pick<ApiKey, "userId" | "teamId">

export interface Directory {
  readonly users: ReadonlyMap<string, User>
  readonly teams: ReadonlyMap<string, Team>
}

/** An owner with limits. */
export type Owner = { readonly kind: "user"; readonly of: User } | { readonly kind: "team"; readonly of: Team }

/** The team and those above it, the nearest first. Ends at a team that is no more. */
export const teamsFrom = ({ teams }: Directory, teamId: string | null): ReadonlyArray<Team> => {
  const found: Array<Team> = []
  for (let id = teamId; id !== null && found.length < maxTeamLevels;) {
    const team = teams.get(id)
    if (team === undefined) break
    found.push(team)
    id = team.parent
  }
  return found
}

/** Owners of a key whose limits hold for it, the nearest first: the person, the team, the teams above. */
export const ownersOf = (directory: Directory, { teamId, userId }: OwnerIds): ReadonlyArray<Owner> => {
  const user = userId === null ? undefined : directory.users.get(userId)
  return [
    ...(user === undefined ? [] : [{ kind: "user", of: user } as const]),
    ...teamsFrom(directory, teamId).map((team) => ({ kind: "team", of: team }) as const)
  ]
}

/** Returns a team and all below it. */
export const teamsBelow = ({ teams }: Directory, id: string): ReadonlySet<string> => {
  const found = new Set([id])
  for (let level = 1; level < maxTeamLevels; level += 1) {
    for (const team of teams.values()) if (team.parent !== null && found.has(team.parent)) found.add(team.id)
  }
  return found
}

const mayUse = ({ teams, users }: Directory, { teamId, userId }: OwnerIds): boolean => {
  const user = userId === null ? null : users.get(userId)
  const team = teamId === null ? null : teams.get(teamId)
  if (user === undefined || team === undefined || user?.state === "suspended") return false
  return user === null || team === null || team.members.includes(user.id)
}

/** A team that is no more shows nothing. */
const contentRule = ({ teams }: Directory, { teamId }: OwnerIds): OwnerRules["content"] => {
  if (teamId === null) return null
  const team = teams.get(teamId) ?? { content: "none", contentNotice: null }
  return { teamId, readers: team.content, notice: noticeOf(team) }
}

/** Rules that a key has of its owners; undefined: it has none. */
export const ownerRules = (directory: Directory, ids: OwnerIds): OwnerRules | undefined =>
  ids.userId === null && ids.teamId === null
    ? undefined
    : {
        mayUse: mayUse(directory, ids),
        person: ids.userId === null ? null : (directory.users.get(ids.userId)?.name ?? null),
        role: ids.userId === null ? null : (directory.users.get(ids.userId)?.role ?? null),
        content: contentRule(directory, ids),
        models: teamsFrom(directory, ids.teamId).flatMap(({ models }) =>
          models === null || models.length === 0 ? [] : [models]
        )
      }
