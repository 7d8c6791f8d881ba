/** Teams: a tree of at most four levels whose limits hold for all below. */
import type { OwnerBudget, OwnerLimits } from "../limits/entity.ts"

/** Places where a team is kept: here, or in a directory that pushes its groups. */
export const teamSources = ["local", "scim"] as const
export type TeamSource = (typeof teamSources)[number]

export interface Team {
  readonly id: string
  /** Unique. */
  readonly name: string
  readonly source: TeamSource
  /** Id of the group in the directory; null: none. */
  readonly externalId: string | null
  /** Id of the team above; null: none. */
  readonly parent: string | null
  readonly budget: OwnerBudget | null
  /** Model ids or patterns that keys of the team may use; null: all. */
  readonly models: ReadonlyArray<string> | null
  readonly limits: OwnerLimits | null
  /** Factor by which what the team costs is billed to it; 1: as it is. */
  readonly rate: number
  /** Ids of users. */
  readonly members: ReadonlyArray<string>
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export const maxRate = 100
export const maxTeamLevels = 4
export const maxTeams = 1_000
