/** Usage within the bounds of a caller's role: accounts of the gateway and the words of providers' errors are not shown to those who see a part of it. */
import * as Effect from "effect/Effect"
import type { Bounds } from "../../subjects/people/Bounds.ts"
import { ownedBy } from "../../subjects/people/Bounds.ts"
import { refuseRole } from "../../subjects/Errors.ts"
import type { UsageFilter } from "../../subjects/usage/repo.ts"
import type { UsageLog } from "../../subjects/usage/routes.ts"
import type { UsageAnalytics } from "../../subjects/usageHistory/routes.ts"

/** Names of a query that filter or split by what is hidden. */
const hiddenFilters = ["connectionId", "error", "search"] as const

interface Asked {
  readonly connectionId?: string | undefined
  readonly error?: string | undefined
  readonly search?: string | undefined
  readonly by?: string | undefined
  readonly and?: string | undefined
}

const problemOf = (bounds: Bounds, asked: Asked): string | null => {
  const filter = hiddenFilters.find((name) => asked[name] !== undefined)
  if (filter !== undefined) return `The role '${bounds.role}' does not look for requests by '${filter}'.`
  return asked.by === "connection" || asked.and === "connection"
    ? `The role '${bounds.role}' does not see the gateway's connections.`
    : null
}

/** Finds what the caller sees of usage; refuses a query that asks for more. */
export const ownFilter = (bounds: Bounds | null, asked: Asked) => {
  const owner = ownedBy(bounds)
  return bounds === null || owner === null
    ? Effect.succeed<Pick<UsageFilter, "ownedBy">>({})
    : Effect.as(refuseRole(problemOf(bounds, asked)), { ownedBy: owner })
}

/** A row of the log as the caller sees it. */
export const seenLog = (bounds: Bounds | null, log: UsageLog): UsageLog =>
  ownedBy(bounds) === null
    ? log
    : {
        ...log,
        connectionId: null,
        connectionName: null,
        egress: null,
        error: null,
        captureId: null,
        hasDecision: false
      }

export const seenAnalytics = (bounds: Bounds | null, answer: UsageAnalytics): UsageAnalytics =>
  ownedBy(bounds) === null ? answer : { ...answer, byConnection: [] }
