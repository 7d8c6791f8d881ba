/** Reads that show what callers have said: while a team lets anybody see that, each of them is a row of the audit log. */
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"
import type { Directory } from "../../subjects/people/Owners.ts"

/** Changes and requests have rows of their own. */
const sights: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "inspector.get",
  "inspector.conversation",
  "inspector.anatomy",
  "inspector.diff",
  "inspector.cache",
  "inspector.cacheBreaks",
  "inspector.code",
  "inspector.preset",
  "inspector.har",
  "inspector.jsonl",
  "inspector.session",
  "inspector.sessionHar",
  "inspector.sessionJsonl",
  "memory.list",
  "memory.get",
  "plugins.logs",
  "rtk.rawOutput"
])

/** Checks whether a read is a sight of content that a team has opened. */
export const isSight = (key: ManagementKey, { teams }: Directory): boolean => {
  if (!sights.has(key)) return false
  for (const { content } of teams.values()) if (content !== "none") return true
  return false
}
