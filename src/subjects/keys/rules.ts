/** Rules for making an API key, and the conversion of an input to its settings. Pure. */
import * as Either from "effect/Either"
import type { CreateKey, UpdateKey } from "./routes.ts"
import { type AccessSchedule, type ApiKeySettings, unrestricted } from "./entity.ts"
import type { FieldProblem } from "../../domain/Errors.ts"

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
