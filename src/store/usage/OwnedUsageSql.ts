/** Usage by the owners that keys had when their requests arrived (`key_owners`), for the log and for the sums by hour. */

/** A person, and teams. */
export interface OwnedBy {
  readonly userId: string
  readonly teamIds: ReadonlyArray<string>
}

export interface Condition {
  readonly sql: string
  readonly parameters: ReadonlyArray<string>
}

const ofOwner = ({ teamIds, userId }: OwnedBy): Condition => ({
  sql: `(o.user_id = ?${teamIds.length === 0 ? "" : ` OR o.team_id IN (${teamIds.map(() => "?").join(", ")})`})`,
  parameters: [userId, ...teamIds]
})

const within = (owner: OwnedBy, times: string): Condition => {
  const { parameters, sql } = ofOwner(owner)
  return { sql: `api_key_id IN (SELECT o.api_key_id FROM key_owners AS o WHERE ${sql} AND ${times})`, parameters }
}

/** Selects rows of the log. */
export const ownedCondition = (owner: OwnedBy): Condition =>
  within(owner, "o.from_ms <= timestamp_ms AND (o.until_ms IS NULL OR o.until_ms > timestamp_ms)")

/** Selects sums of periods in all of which the key was theirs. */
export const ownedPeriods = (owner: OwnedBy, ms: number): Condition =>
  within(owner, `o.from_ms <= start_ms AND (o.until_ms IS NULL OR o.until_ms >= start_ms + ${ms})`)

/** Selects rows of the log (`log`) of periods in which the key became another owner's: sums of those belong to several. */
export const inMovedPeriod = (ms: number): string => {
  const start = `timestamp_ms / ${ms} * ${ms}`
  const inside = (time: string): string => `(${time} > ${start} AND ${time} < ${start} + ${ms})`
  return `EXISTS (SELECT 1 FROM key_owners AS o WHERE o.api_key_id = log.api_key_id AND (${inside("o.from_ms")} OR ${inside("o.until_ms")}))`
}
