/** Rules for teams, and the conversion of an input to one. Pure. */
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import { type Directory, teamsBelow, teamsFrom } from "../people/Owners.ts"
import { ownerBudgetOf, ownerLimitsOf } from "../limits/rules.ts"
import type { CreateTeam, UpdateTeam } from "./routes.ts"
import { maxTeamLevels, type Team } from "./entity.ts"

type Settings = Omit<Team, "id" | "createdAtMs" | "updatedAtMs">

const empty: Omit<Settings, "name"> = {
  source: "local",
  externalId: null,
  parent: null,
  budget: null,
  models: null,
  limits: null,
  rate: 1,
  content: "none",
  contentNotice: null,
  members: []
}

/** Settings with the changes of an input. A member is there once. */
export const changed = (before: Settings, input: UpdateTeam): Settings => ({
  name: input.name ?? before.name,
  source: before.source,
  externalId: before.externalId,
  parent: input.parent === undefined ? before.parent : input.parent,
  budget: input.budget === undefined ? before.budget : ownerBudgetOf(input.budget),
  models: input.models === undefined ? before.models : input.models,
  limits: input.limits === undefined ? before.limits : ownerLimitsOf(input.limits),
  rate: input.rate === undefined ? before.rate : (input.rate ?? 1),
  content: input.content ?? before.content,
  contentNotice: input.contentNotice === undefined ? before.contentNotice : input.contentNotice,
  members: [...new Set(input.members ?? before.members)]
})

export const settingsOf = ({ name, ...input }: CreateTeam): Settings => changed({ ...empty, name }, input)

/** Levels of teams below a team, with its own. */
const levelsFrom = ({ teams }: Directory, id: string): number => {
  let level = 0
  for (let ids = new Set([id]); ids.size > 0 && level <= maxTeamLevels; level += 1) {
    const above = ids
    ids = new Set([...teams.values()].flatMap((team) => (above.has(team.parent ?? "") ? [team.id] : [])))
  }
  return level
}

/** Checks the place of a team in the tree; null: it may stand there. */
const placeProblem = (directory: Directory, { id, parent }: Pick<Team, "id" | "parent">): FieldProblem | null => {
  const field = "parent"
  if (parent === null) return null
  if (!directory.teams.has(parent)) return { field, message: `there is no team '${parent}'` }
  if (teamsBelow(directory, id).has(parent)) return { field, message: "must not be the team itself or one below it" }
  return teamsFrom(directory, parent).length + levelsFrom(directory, id) > maxTeamLevels
    ? { field, message: `the tree of teams has at most ${maxTeamLevels} levels` }
    : null
}

/** Checks whether the team lets its content be seen; null: it does. The refusal is a sentence. */
export const contentProblem = ({ content, name }: Pick<Team, "content" | "name">, isLead: boolean): string | null => {
  if (content === "none") return `The team '${name}' lets nobody see its prompts and answers.`
  return content === "admins" && isLead
    ? `The team '${name}' lets only those who administer the gateway see its prompts and answers.`
    : null
}

/** Null: the team fits the others. */
export const problemOf = (directory: Directory, team: Team): FieldProblem | null => {
  const stranger = team.members.find((id) => !directory.users.has(id))
  if (stranger !== undefined) return { field: "members", message: `there is no person '${stranger}'` }
  return placeProblem(directory, team)
}
