/**
 * The SQL of the usage log's sums (`usage_hours`, `usage_days`, `usage_minutes`). Rows whose number is at most `usage_summed.seq` are in
 * the sums of their hour and day.
 */

export const minuteMs = 60_000
export const hourMs = 3_600_000
export const dayMs = 86_400_000

/** Granularity of sums: a table, and the length of its periods, which begin at whole multiples of it in UTC. */
export interface Grain {
  readonly table: "usage_minutes" | "usage_hours" | "usage_days"
  readonly ms: number
}

export const minutes: Grain = { table: "usage_minutes", ms: minuteMs }
export const hours: Grain = { table: "usage_hours", ms: hourMs }
export const days: Grain = { table: "usage_days", ms: dayMs }

/** Sums stop here: a hostile upstream that reports absurd counts must not stop them with an overflow. */
export const largest = Number.MAX_SAFE_INTEGER

export const dimensions = ["api_key_id", "provider", "connection_id", "model"] as const

/** Each sum, and what a row of the log adds to it. `admitted`: not refused by a limit. */
const added = {
  requests: "1",
  completed: "CASE WHEN outcome = 'completed' THEN 1 ELSE 0 END",
  aborted: "CASE WHEN outcome = 'aborted' THEN 1 ELSE 0 END",
  admitted: "CASE WHEN attempts = 0 AND status = 429 THEN 0 ELSE 1 END",
  unpriced: "CASE WHEN priced = 0 THEN 1 ELSE 0 END",
  tokens_in: "tokens_in",
  tokens_out: "tokens_out",
  tokens_cache_read: "tokens_cache_read",
  tokens_cache_write: "tokens_cache_write",
  tokens_reasoning: "tokens_reasoning",
  cost_nano_usd: "cost_nano_usd",
  cost_nano_parts: "cost_nano_parts",
  latency_ms: "latency_ms",
  ttft_ms: "COALESCE(ttft_ms, 0)",
  ttft_count: "CASE WHEN ttft_ms IS NULL THEN 0 ELSE 1 END"
} as const

export type SumName = keyof typeof added
export const sumNames = Object.keys(added) as ReadonlyArray<SumName>

const columns = ["start_ms", ...dimensions, ...sumNames, "last_ms"]

const startOf = (ms: number): string => `timestamp_ms / ${ms} * ${ms}`

/** Models are named by callers: a period with more groups than this takes further models together. */
export const mostGroups = 5_000
export const otherModel = "(other)"

const knownModel = ({ ms, table }: Grain): string =>
  `CASE WHEN EXISTS (SELECT 1 FROM ${table} AS known WHERE known.start_ms = ${startOf(ms)} AND known.api_key_id = COALESCE(log.api_key_id, '')
    AND known.provider = COALESCE(log.provider, '') AND known.connection_id = COALESCE(log.connection_id, '') AND known.model = log.model)
    THEN COALESCE(log.model, '') ELSE '${otherModel}' END`

const dimensionOf = (name: string): string => `COALESCE(log.${name}, '')`

/** Rows of the log as rows of a table of sums, before they are grouped. `where` may have parameters. */
export const rowsAsSums = (ms: number, where: string): string =>
  `SELECT ${startOf(ms)} AS start_ms, ${dimensions.map((name) => `${dimensionOf(name)} AS ${name}`).join(", ")},
    ${sumNames.map((name) => `${added[name]} AS ${name}`).join(", ")}, timestamp_ms AS last_ms
  FROM usage_log AS log WHERE ${where}`

/** Adds rows of the log to the sums of a grain. `crowded`: models that the period does not have yet are taken together. */
export const addRows = (grain: Grain, where: string, crowded = false): string => {
  const { ms, table } = grain
  const values = [
    startOf(ms),
    ...dimensions.map((name) => (name === "model" && crowded ? knownModel(grain) : dimensionOf(name))),
    ...sumNames.map((name) => `MIN(${largest}, SUM(${added[name]}))`),
    "MAX(timestamp_ms)"
  ]
  const sets = sumNames.map((name) => `${name} = MIN(${largest}, ${table}.${name} + excluded.${name})`)
  return `INSERT INTO ${table} (${columns.join(", ")})
  SELECT ${values.join(", ")} FROM usage_log AS log WHERE ${where} GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (start_ms, ${dimensions.join(", ")}) DO UPDATE SET ${sets.join(", ")}, last_ms = MAX(${table}.last_ms, excluded.last_ms)`
}

/** The number up to which rows are in the sums. */
export const summedSeq = "(SELECT seq FROM usage_summed)"
