/**
 * The meters that keys of a person or a team share, and what their keys had used of them before. A key that had another owner in the window counts
 * for each in its time.
 */
import { type Directory, type Owner, ownersOf, teamsBelow } from "../../subjects/people/Owners.ts"
import type { ApiKey } from "../../subjects/keys/entity.ts"
import type { Ownership } from "../../subjects/keys/KeyOwnerRepo.ts"
import type { OwnedQuery } from "../../subjects/usage/SpendRepo.ts"
import type { Booked } from "./LedgerTruth.ts"
import type { Meter, MeterOwner, MeterSpec } from "./Meter.ts"
import { isSameMeter, metersOfOwner } from "./Specs.ts"
import type { LimitWindow } from "./Windows.ts"

/** A shared meter, and the owners whose keys count for it. */
export interface SharedMeter {
  readonly meter: Meter
  /** Ids of the person, or of the team and those below it. */
  readonly ids: ReadonlySet<string>
}

/** Meter to be, by the id of its limit. */
export interface SharedSpec {
  readonly spec: MeterSpec
  readonly ids: ReadonlySet<string>
}

const idsOf = (directory: Directory, { kind, of }: Owner): ReadonlySet<string> =>
  kind === "user" ? new Set([of.id]) : teamsBelow(directory, of.id)

/** Lists the limits of all people and teams. */
export const sharedSpecs = (directory: Directory): ReadonlyMap<string, SharedSpec> => {
  const found = new Map<string, SharedSpec>()
  const add = (owner: Owner): void => {
    // Most people have no limits, and all are looked at after each change of one.
    if (owner.of.budget === null && owner.of.limits === null) return
    const specs = metersOfOwner(owner)
    if (specs.length === 0) return
    const ids = idsOf(directory, owner)
    for (const spec of specs) found.set(spec.id, { spec, ids })
  }
  for (const of of directory.users.values()) add({ kind: "user", of })
  for (const of of directory.teams.values()) add({ kind: "team", of })
  return found
}

const isSameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((id) => other.has(id))

/** The two count the same use of the same owners. */
export const isSameShared = ({ ids, meter }: SharedMeter, other: SharedSpec): boolean =>
  isSameMeter(meter.spec, other.spec) && meter.spec.unit === other.spec.unit && isSameSet(ids, other.ids)

/** The shared meters of a key, the nearest owner first. */
export const sharedOf = (
  meters: ReadonlyMap<string, SharedMeter>,
  directory: Directory,
  key: Pick<ApiKey, "teamId" | "userId"> | null
): ReadonlyArray<Meter> =>
  key === null || (key.userId === null && key.teamId === null)
    ? []
    : ownersOf(directory, key).flatMap((owner) => metersOfOwner(owner).flatMap(({ id }) => meters.get(id)?.meter ?? []))

const isOwned = (
  { kind }: MeterOwner,
  ids: ReadonlySet<string>,
  { teamId, userId }: Pick<Ownership, "teamId" | "userId">
): boolean => {
  const id = kind === "user" ? userId : teamId
  return id !== null && ids.has(id)
}

/** Times in which keys belonged to some owners, within a window. */
export const ownedWithin = (
  owner: MeterOwner,
  ids: ReadonlySet<string>,
  all: ReadonlyArray<Ownership>,
  { endMs, startMs }: LimitWindow
): ReadonlyArray<OwnedQuery> =>
  all.flatMap(({ apiKeyId, fromMs, untilMs, ...of }) => {
    const sinceMs = Math.max(fromMs, startMs)
    const endsMs = Math.min(untilMs ?? endMs, endMs)
    return isOwned(owner, ids, of) && sinceMs < endsMs ? [{ apiKeyId, sinceMs, untilMs: endsMs }] : []
  })

/** Checks whether a request belonged to some owners when it came. */
export const isOfOwned = (owned: ReadonlyArray<OwnedQuery>, { apiKeyId, receivedMs }: Booked): boolean =>
  owned.some((each) => each.apiKeyId === apiKeyId && each.sinceMs <= receivedMs && receivedMs < each.untilMs)
