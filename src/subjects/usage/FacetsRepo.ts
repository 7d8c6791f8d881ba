/** Values that the rows of the usage log have in the fields they are filtered by, with how many rows have them; read on the reading thread. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type ReadRefused, type ReadStatement, ReadWorker } from "../../store/engine/ReadWorker.ts"
import { lastLookedAt } from "../../store/usage/UsageSeriesSql.ts"
import { clockSetBackMs, conditionsOf, idAt, type UsageFilter } from "./repo.ts"

/** Fields, and what their values are in SQL. */
const fields = {
  provider: "provider",
  model: "provider || '/' || model",
  requestedModel: "requested_model",
  connectionId: "connection_id",
  apiKeyId: "api_key_id",
  combo: "combo",
  outcome: "outcome",
  status: "CAST(status AS TEXT)",
  error: "error",
  sessionId: "session_id",
  batchId: "batch_id"
} as const

export type FacetName = keyof typeof fields
export const facetNames = Object.keys(fields) as ReadonlyArray<FacetName>

export interface FacetValue {
  readonly value: string
  readonly count: number
}

export interface Facets {
  /** The most frequent first, at most `most` each. */
  readonly values: Readonly<Record<FacetName, ReadonlyArray<FacetValue>>>
  readonly rows: number
  /** Epoch milliseconds: rows before were not looked at; null: all were. */
  readonly scannedToMs: number | null
}

export class FacetsRepo extends Context.Tag("gateway/subjects/usage/FacetsRepo")<
  FacetsRepo,
  {
    readonly facets: (filter: UsageFilter, most: number) => Effect.Effect<Facets, ReadRefused>
  }
>() {}

/** Rows of one answer, the newest. */
export const mostRows = 100_000

const statementsOf = (filter: UsageFilter, most: number): ReadonlyArray<ReadStatement> => {
  const { idBeginning = "", sinceMs, untilMs } = filter
  const since = sinceMs === undefined ? "" : idAt(sinceMs)
  const leastId = idBeginning > since ? idBeginning : since
  const beforeId = untilMs === undefined ? "\u{10ffff}" : idAt(untilMs + clockSetBackMs)
  const tests = conditionsOf(filter)
  const last = lastLookedAt(mostRows)
  const columns = facetNames.map((name) => `${fields[name]} AS ${name}`).join(", ")
  const arms = facetNames.map(
    (
      name
    ) => `SELECT * FROM (SELECT '${name}' AS name, ${name} AS value, SUM(n) AS count FROM combined WHERE ${name} IS NOT NULL
      GROUP BY ${name} ORDER BY count DESC, value LIMIT ${most}) AS ${name}_arm`
  )
  return [
    { sql: last, parameters: [leastId, beforeId] },
    {
      // Rows share few combinations of these: they are counted once, and each field of the combinations.
      sql: `WITH combined AS MATERIALIZED (
          SELECT ${columns}, COUNT(*) AS n FROM usage_log WHERE usage_log.id >= ? AND usage_log.id < ?
            AND usage_log.id >= COALESCE((SELECT id FROM (${last}) AS looked_at), '') AND timestamp_ms >= ? AND timestamp_ms < ?
            ${tests.map(({ sql }) => ` AND ${sql}`).join("")}
          GROUP BY ${facetNames.map((_, n) => n + 1).join(", ")}
        ) SELECT '' AS name, '' AS value, TOTAL(n) AS count FROM combined UNION ALL ${arms.join(" UNION ALL ")}`,
      parameters: [
        leastId,
        beforeId,
        leastId,
        beforeId,
        sinceMs ?? Number.MIN_SAFE_INTEGER,
        untilMs ?? Number.MAX_SAFE_INTEGER,
        ...tests.flatMap(({ parameters }) => parameters)
      ]
    }
  ]
}

export const make = Effect.map(ReadWorker, (worker) =>
  FacetsRepo.of({
    facets: Effect.fn("FacetsRepo.facets")((filter: UsageFilter, most: number) =>
      Effect.map(worker.read(statementsOf(filter, most)), ([last = [], found = []]) => {
        const valuesOf = (name: string): ReadonlyArray<FacetValue> =>
          found
            .filter((row) => row["name"] === name)
            .map((row) => ({ value: String(row["value"]), count: Number(row["count"]) }))
        return {
          values: Object.fromEntries(facetNames.map((name) => [name, valuesOf(name)])) as Facets["values"],
          rows: valuesOf("")[0]?.count ?? 0,
          scannedToMs: last[0] === undefined ? null : Number(last[0]["timestamp_ms"])
        }
      })
    )
  })
)

export const layer: Layer.Layer<FacetsRepo, never, ReadWorker> = Layer.effect(FacetsRepo, make)
