/**
 * The SQL of what rows of the usage log are filtered by (`usage_facets`, `usage_facet_rows`). They hold the rows whose number is at most
 * `usage_summed.seq`; those behind it are few and looked at one by one.
 */
import { summedSeq } from "./UsageSumsSql.ts"

/** Each column, and its value of a row of the log. `calls`: 2 where a request had more than one. */
const values = {
  api_key_id: "COALESCE(log.api_key_id, '')",
  provider: "COALESCE(log.provider, '')",
  connection_id: "COALESCE(log.connection_id, '')",
  model: "COALESCE(log.model, '')",
  requested_model: "log.requested_model",
  combo: "COALESCE(log.combo, '')",
  outcome: "log.outcome",
  status: "log.status",
  calls: "MIN(log.attempts, 2)"
} as const

const columns = Object.keys(values).join(", ")
const selected = Object.values(values).join(", ")
const isSame = Object.entries(values)
  .map(([name, value]) => `facet.${name} = ${value}`)
  .join(" AND ")
const pairs = (where: string): string =>
  `usage_log AS log CROSS JOIN usage_facets AS facet WHERE ${isSame} AND ${where}`

/** Statements that bring rows of the log in. Each has the parameters of `where`. */
export const addFacets = (where: string): ReadonlyArray<string> => [
  `INSERT INTO usage_facets (${columns}) SELECT DISTINCT ${selected} FROM usage_log AS log WHERE ${where} ON CONFLICT DO NOTHING`,
  `INSERT INTO usage_facet_rows SELECT facet.id, log.id, log.timestamp_ms FROM ${pairs(where)} ON CONFLICT DO NOTHING`
]

/** Statements that take rows out before they leave the log. Each has the parameters of `where`. */
export const removeFacets = (where: string): ReadonlyArray<string> => [
  `DELETE FROM usage_facet_rows WHERE (facet_id, id) IN (SELECT facet.id, log.id FROM ${pairs(where)})`,
  `DELETE FROM usage_facets WHERE id IN (SELECT facet.id FROM ${pairs(where)})
    AND NOT EXISTS (SELECT 1 FROM usage_facet_rows WHERE facet_id = usage_facets.id)`
]

export interface Condition {
  readonly sql: string
  readonly parameters: ReadonlyArray<string | number>
}

/** Range of ids: from `leastId` on and before `beforeId`, of rows that arrived within two times. */
export interface IdRange {
  readonly leastId: string
  readonly beforeId: string
  /** Epoch milliseconds, included. */
  readonly sinceMs: number
  /** Epoch milliseconds, excluded. */
  readonly untilMs: number
}

const joined = (conditions: ReadonlyArray<Condition>): Condition => ({
  sql: conditions.map(({ sql }) => ` AND ${sql}`).join(""),
  parameters: conditions.flatMap(({ parameters }) => parameters)
})

const range =
  "SELECT CAST(? AS TEXT) AS least, CAST(? AS TEXT) AS before, CAST(? AS BIGINT) AS since, CAST(? AS BIGINT) AS until, CAST(? AS BIGINT) AS most"
/**
 * Writes the condition for a table with an id and a time; the time differs from the id's after the clock was set back.
 */
const within = (name: string): string =>
  `${name}.id >= (SELECT least FROM wanted) AND ${name}.id < (SELECT before FROM wanted)
    AND ${name}.timestamp_ms >= (SELECT since FROM wanted) AND ${name}.timestamp_ms < (SELECT until FROM wanted)`
const newest = "DESC LIMIT (SELECT most FROM wanted)"

/**
 * The newest row of each combination first: rows older than the newest of `most` combinations are on no page, and of one combination no more
 * than `most` are.
 */
const ofFacets = (tests: string): string => `
  heads AS MATERIALIZED (
    SELECT facet.id AS facet_id, (
      SELECT one.id FROM usage_facet_rows AS one WHERE one.facet_id = facet.id AND ${within("one")} ORDER BY one.id DESC LIMIT 1
    ) AS head FROM usage_facets AS facet WHERE 1 = 1${tests}
  ),
  newest_heads AS MATERIALIZED (SELECT facet_id, head FROM heads WHERE head IS NOT NULL ORDER BY head ${newest}),
  bound AS MATERIALIZED (
    SELECT CASE WHEN COUNT(*) < (SELECT most FROM wanted) THEN (SELECT least FROM wanted) ELSE MIN(head) END AS id FROM newest_heads
  ),
  of_facets AS (
    SELECT one.id FROM newest_heads CROSS JOIN usage_facet_rows AS one
    WHERE one.facet_id = newest_heads.facet_id AND one.id <= newest_heads.head AND one.timestamp_ms >= (SELECT since FROM wanted) AND one.timestamp_ms < (SELECT until FROM wanted)
      AND one.id >= (SELECT MIN(id) FROM (
        SELECT other.id FROM usage_facet_rows AS other WHERE other.facet_id = newest_heads.facet_id AND other.id <= newest_heads.head
          AND other.id >= (SELECT id FROM bound) AND other.timestamp_ms >= (SELECT since FROM wanted)
          AND other.timestamp_ms < (SELECT until FROM wanted) ORDER BY other.id ${newest}
      ) AS others)
    ORDER BY one.id ${newest}
  )`

/** Index of a column with the searched text, besides the combinations. */
export interface TextArm {
  readonly index: "usage_log_errors" | "usage_log_requests" | "sqlite_autoindex_usage_log_1"
  readonly condition: Condition
}

export interface IdsSelection {
  readonly range: IdRange
  readonly most: number
  /** Conditions on the columns of a combination. */
  readonly facets: ReadonlyArray<Condition>
  readonly arms: ReadonlyArray<TextArm>
  /** Conditions that a row of the log has to meet besides an arm's own. */
  readonly rows: ReadonlyArray<Condition>
  /** All conditions on a row that is in no combination yet. */
  readonly tail: ReadonlyArray<Condition>
}

/** The ids of at most `most` rows, the newest first, each once. */
export const newestIds = ({
  arms,
  facets,
  most,
  range: { beforeId, leastId, sinceMs, untilMs },
  rows,
  tail
}: IdsSelection): Condition => {
  const tests = joined(facets)
  const others = joined(rows)
  const waiting = joined(tail)
  const parts = [
    { sql: "SELECT id FROM of_facets", parameters: [] },
    {
      sql: `SELECT id FROM (SELECT usage_log.id FROM usage_log NOT INDEXED WHERE seq > ${summedSeq} AND ${within("usage_log")}${waiting.sql}
        ORDER BY usage_log.id ${newest}) AS waiting`,
      parameters: waiting.parameters
    },
    ...arms.map(({ condition, index }) => ({
      sql: `SELECT id FROM (SELECT usage_log.id FROM usage_log INDEXED BY ${index} WHERE ${condition.sql} AND ${within("usage_log")}${others.sql}
        ORDER BY usage_log.id ${newest}) AS arm`,
      parameters: [...condition.parameters, ...others.parameters]
    }))
  ]
  return {
    sql: `WITH wanted AS MATERIALIZED (${range}), ${ofFacets(tests.sql)}
      SELECT id FROM (${parts.map(({ sql }) => sql).join(" UNION ")}) AS every ORDER BY id ${newest}`,
    parameters: [
      leastId,
      beforeId,
      sinceMs,
      untilMs,
      most,
      ...tests.parameters,
      ...parts.flatMap(({ parameters }) => parameters)
    ]
  }
}
