/**
 * The SQL of bills: sums by the owners that keys had when requests arrived (`key_owners`). Sums of a period count for the owner at its beginning; what came
 * after a key moved within it is taken from that owner and given to the other, so that all lines together are the sums, whatever is known of rows.
 */
import { type Grain, minuteMs, summedSeq } from "./UsageSumsSql.ts"

export interface Part {
  readonly sql: string
  readonly parameters: ReadonlyArray<number | string>
}

interface Span {
  readonly fromMs: number
  readonly untilMs: number
}

const amounts = ["requests", "unpriced", "tokens_in", "tokens_out", "cost_nano_usd", "cost_nano_parts"] as const

const amountOfRow: Readonly<Record<(typeof amounts)[number], string>> = {
  requests: "1",
  unpriced: "CASE WHEN u.priced = 0 THEN 1 ELSE 0 END",
  tokens_in: "u.tokens_in",
  tokens_out: "u.tokens_out",
  cost_nano_usd: "u.cost_nano_usd",
  cost_nano_parts: "u.cost_nano_parts"
}

const beginOf = (time: string, ms: number): string => `(${time} / ${ms} * ${ms})`

/** Number of the row of `key_owners` that holds at a time; one at most, also where the clock was set back. */
const ownerAt = (time: string): string =>
  `(SELECT o.seq FROM key_owners AS o WHERE o.api_key_id = u.api_key_id AND o.from_ms <= ${time}
    AND (o.until_ms IS NULL OR o.until_ms > ${time}) ORDER BY o.seq DESC LIMIT 1)`

const isMoved = (time: string, ms: number): string => {
  const begin = beginOf(time, ms)
  const inside = (edge: string): string => `(o.${edge} > ${begin} AND o.${edge} < ${begin} + ${ms})`
  return `EXISTS (SELECT 1 FROM key_owners AS o WHERE o.api_key_id = u.api_key_id AND (${inside("from_ms")} OR ${inside("until_ms")}))`
}

const dimensions = ["api_key_id", "provider", "model"] as const

const fromLog = (
  owner: string,
  sign: "" | "-",
  where: string,
  by: ReadonlyArray<(typeof dimensions)[number] | "tags"> = dimensions
): string =>
  `SELECT ${by.map((name) => `COALESCE(u.${name}, '') AS ${name}`).join(", ")}, ${ownerAt(owner)} AS owner,
    ${amounts.map((name) => `${sign}(${amountOfRow[name]}) AS ${name}`).join(", ")} FROM usage_log AS u WHERE ${where}`

const fromSums = (table: Grain["table"], owner: string, sign: "" | "-", where: string): string =>
  `SELECT ${dimensions.map((name) => `u.${name} AS ${name}`).join(", ")}, ${ownerAt(owner)} AS owner,
    ${amounts.map((name) => `${sign}(u.${name}) AS ${name}`).join(", ")} FROM ${table} AS u WHERE ${where}`

const ofTime = "u.timestamp_ms >= ? AND u.timestamp_ms < ?"
const ofStart = "u.start_ms >= ? AND u.start_ms < ?"

/** Whole periods: their sums, rows that are not in them yet, and what moves between owners. */
export const wholePeriods = ({ ms, table }: Grain, { fromMs, untilMs }: Span, idAt: (ms: number) => string): Part => {
  const range = [fromMs, untilMs]
  if (fromMs >= untilMs) return { sql: "", parameters: [] }
  const movedRows = `u.id >= ? AND u.seq <= ${summedSeq} AND ${ofTime} AND ${isMoved("u.timestamp_ms", ms)}`
  const movedMinutes = `${ofStart} AND ${isMoved("u.start_ms", ms)}`
  const rows = [idAt(fromMs), ...range]
  return {
    sql: [
      fromSums(table, "u.start_ms", "", ofStart),
      fromLog("u.timestamp_ms", "", `u.seq > ${summedSeq} AND ${ofTime}`),
      fromLog("u.timestamp_ms", "", movedRows),
      fromLog(beginOf("u.timestamp_ms", ms), "-", movedRows),
      fromSums("usage_minutes", "u.start_ms", "", movedMinutes),
      fromSums("usage_minutes", beginOf("u.start_ms", ms), "-", movedMinutes)
    ].join(" UNION ALL "),
    parameters: [...range, ...range, ...rows, ...rows, ...range, ...range]
  }
}

/** The time before the first whole period and after the last one: the log, and minutes of what was deleted. */
export const edge = ({ fromMs, untilMs }: Span, idAt: (ms: number) => string): Part =>
  fromMs >= untilMs
    ? { sql: "", parameters: [] }
    : {
        sql: `${fromLog("u.timestamp_ms", "", `u.id >= ? AND ${ofTime}`)} UNION ALL ${fromSums("usage_minutes", "u.start_ms", "", ofStart)}`,
        parameters: [idAt(fromMs), fromMs, untilMs, beginMinute(fromMs), untilMs]
      }

const beginMinute = (ms: number): number => Math.ceil(ms / minuteMs) * minuteMs

/** Rows of a span that were written behind a number. */
export const lateRows = ({ fromMs, untilMs }: Span, seq: number): Part => ({
  sql: fromLog("u.timestamp_ms", "", `u.seq > ? AND ${ofTime}`),
  parameters: [seq, fromMs, untilMs]
})

const sumsOfPart = amounts.map((name) => `SUM(part.${name}) AS ${name}`).join(", ")
const ownersOfPart = `COALESCE(o.user_id, '') AS person, COALESCE(o.team_id, '') AS team, part.api_key_id AS api_key, part.model AS model, part.provider AS provider`

/** Rows of a span by all dimensions and their tags, of the log alone. */
export const taggedLines = ({ fromMs, untilMs }: Span, idAt: (ms: number) => string): Part => {
  const rows = fromLog("u.timestamp_ms", "", `u.id >= ? AND ${ofTime}`, [...dimensions, "tags"])
  return {
    sql: `SELECT ${ownersOfPart}, part.tags AS tags, ${sumsOfPart}
      FROM (${rows}) AS part LEFT JOIN key_owners AS o ON o.seq = part.owner
      GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`,
    parameters: [idAt(fromMs), fromMs, untilMs]
  }
}

/** Groups parts by all dimensions, with the ids of the owners. */
export const linesOf = (parts: ReadonlyArray<Part>): Part => {
  const given = parts.filter(({ sql }) => sql !== "")
  return {
    sql: `SELECT ${ownersOfPart}, ${sumsOfPart}
      FROM (${given.map(({ sql }) => sql).join(" UNION ALL ")}) AS part LEFT JOIN key_owners AS o ON o.seq = part.owner
      GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
    parameters: given.flatMap(({ parameters }) => parameters)
  }
}

/** Number of the last row that was written, also of one that was deleted. */
export const lastSeq = {
  sql: "SELECT seq AS last FROM sqlite_sequence WHERE name = 'usage_log'",
  postgres: "SELECT last_value AS last FROM usage_log_seq_seq WHERE is_called",
  parameters: []
}
