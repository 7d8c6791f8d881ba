/** Teams: a tree of at most four levels whose limits hold for all below. */
import type { OwnerBudget, OwnerLimits } from "../limits/entity.ts"

/** Places where a team is kept: here, or in a directory that pushes its groups. */
export const teamSources = ["local", "scim"] as const
export type TeamSource = (typeof teamSources)[number]

/** Roles that may read prompts and answers of a team's keys: none, administrators, or administrators and the team's leads. */
export const contentReaders = ["none", "admins", "leads"] as const
export type ContentReaders = (typeof contentReaders)[number]

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
  readonly content: ContentReaders
  /** Text that members are told about it; null: the usual one. */
  readonly contentNotice: string | null
  /** Ids of users. */
  readonly members: ReadonlyArray<string>
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

const usualNotices: Readonly<Record<ContentReaders, string>> = {
  none: "Nobody sees the prompts and answers of this team.",
  admins:
    "Those who administer the gateway may see prompts and answers of this team. Each sight is noted in the audit log.",
  leads:
    "Leads of this team and those who administer the gateway may see its prompts and answers. Each sight is noted in the audit log."
}

/** Returns what members of a team are told. */
export const noticeOf = ({ content, contentNotice }: Pick<Team, "content" | "contentNotice">): string =>
  content === "none" ? usualNotices.none : (contentNotice ?? usualNotices[content])

export const maxRate = 100
export const maxTeamLevels = 4
export const maxTeams = 1_000
