/** Rules for making an API key, and the conversion of an input to its settings. Pure. */
import * as Either from "effect/Either"
import type { CreateKey, UpdateKey } from "./routes.ts"
import { type AccessSchedule, type ApiKeySettings, unrestricted } from "./entity.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { Directory } from "../people/Owners.ts"

/** Epoch milliseconds of an ISO time. */
const timeOf = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso))

const everyDay = [0, 1, 2, 3, 4, 5, 6]

const scheduleOf = (given: NonNullable<UpdateKey["accessSchedule"]>): AccessSchedule => ({
  enabled: given.enabled ?? true,
  from: given.from,
  until: given.until,
  days: [...new Set(given.days ?? everyDay)].toSorted((one, other) => one - other),
  tz: given.tz
})

/** Converts the changes of a key. A time in the past ends it at once; a list that is cleared allows everything. */
export const changeOf = ({
  accessSchedule,
  allowedCombos,
  allowedConnections,
  allowedEndpoints,
  allowedProviders,
  blockedModels,
  expiresAt,
  ipAllowlist,
  ...input
}: UpdateKey): Partial<ApiKeySettings> => ({
  ...input,
  ...(expiresAt === undefined ? {} : { expiresAtMs: timeOf(expiresAt) }),
  ...(accessSchedule === undefined
    ? {}
    : { accessSchedule: accessSchedule === null ? null : scheduleOf(accessSchedule) }),
  ...(blockedModels === undefined ? {} : { blockedModels: blockedModels ?? [] }),
  ...(allowedEndpoints === undefined ? {} : { allowedEndpoints: allowedEndpoints ?? [] }),
  ...(allowedCombos === undefined ? {} : { allowedCombos: allowedCombos ?? [] }),
  ...(allowedProviders === undefined ? {} : { allowedProviders: allowedProviders ?? [] }),
  ...(allowedConnections === undefined ? {} : { allowedConnections: allowedConnections ?? [] }),
  ...(ipAllowlist === undefined ? {} : { ipAllowlist: ipAllowlist ?? [] })
})

/** A new key may always ask about itself; a later change can take that away. */
const scopesOf = (given: ReadonlyArray<string> | undefined): ReadonlyArray<string> => [
  ...new Set([...(given ?? []), "self:usage"])
]

/** The settings of a new key. One that has expired before it is made is taken for a mistake. */
export const settingsOf = (input: CreateKey, nowMs: number): Either.Either<ApiKeySettings, FieldProblem> => {
  const settings = { ...unrestricted, ...changeOf(input), name: input.name, scopes: scopesOf(input.scopes) }
  return settings.expiresAtMs !== null && settings.expiresAtMs <= nowMs
    ? Either.left({ field: "expiresAt", message: "must be in the future" })
    : Either.right(settings)
}

/** Checks the owners of a key: they are there, and the person is a member of the team. */
export const ownerProblem = (
  { teams, users }: Directory,
  { teamId, userId }: Pick<ApiKeySettings, "teamId" | "userId">
): FieldProblem | null => {
  if (userId !== null && !users.has(userId)) return { field: "userId", message: `there is no person '${userId}'` }
  if (teamId === null) return null
  const team = teams.get(teamId)
  if (team === undefined) return { field: "teamId", message: `there is no team '${teamId}'` }
  return userId === null || team.members.includes(userId)
    ? null
    : { field: "teamId", message: `the person is no member of the team '${team.name}'` }
}

/** A change with the time from which the key belongs to other owners, where it does. */
export const moved = (
  before: ApiKeySettings,
  change: Partial<ApiKeySettings>,
  nowMs: number
): Partial<ApiKeySettings> => {
  const { teamId = before.teamId, userId = before.userId } = change
  return teamId === before.teamId && userId === before.userId ? change : { ...change, ownedSinceMs: nowMs }
}
