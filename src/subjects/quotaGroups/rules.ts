/** Rules for saving a quota group. Pure. */
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { QuotaGroup } from "./entity.ts"

/** Ids that the entries of a group may name. */
export interface KnownIds {
  readonly connections: ReadonlySet<string>
  readonly apiKeys: ReadonlySet<string>
}

/** The first id that is not known or is there twice; null when there is none. */
const firstWrong = (
  ids: ReadonlyArray<string>,
  known: ReadonlySet<string>
): { readonly index: number; readonly isKnown: boolean } | null => {
  const seen = new Set<string>()
  for (const [index, id] of ids.entries()) {
    if (!known.has(id)) return { index, isKnown: false }
    if (seen.has(id)) return { index, isKnown: true }
    seen.add(id)
  }
  return null
}

/** The first thing that is wrong with a group's members or allocations; null when nothing is. */
export const problemOf = (
  { allocations, members }: Pick<QuotaGroup, "allocations" | "members">,
  known: KnownIds
): FieldProblem | null => {
  const member = firstWrong(
    members.map(({ connectionId }) => connectionId),
    known.connections
  )
  if (member !== null) {
    const message = member.isKnown ? "is a member already" : "there is no such connection"
    return { field: `members.${member.index}.connectionId`, message }
  }
  const allocation = firstWrong(
    allocations.map(({ apiKeyId }) => apiKeyId),
    known.apiKeys
  )
  if (allocation === null) return null
  const message = allocation.isKnown ? "has an allocation already" : "there is no such API key"
  return { field: `allocations.${allocation.index}.apiKeyId`, message }
}
