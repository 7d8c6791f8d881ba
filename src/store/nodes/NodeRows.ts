/** Rows of the gateways that share a database: each writes its own every few seconds, by the clock of the database. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { named } from "../engine/Table.ts"
import type { StoreError } from "../Errors.ts"

export interface NodeFacts {
  readonly id: string
  /** Name for people. */
  readonly name: string
  readonly version: string
  readonly schemaVersion: number
  readonly startedAtMs: number
  /** Name of its data folder. */
  readonly folder: string
}

export interface NodeRow extends NodeFacts {
  readonly seenAtMs: number
  /** Time in ms since then. */
  readonly silentMs: number
  /** Changes of the configuration that it has not read. */
  readonly changesBehind: number
  /** Rows that others had written of accounts and providers a second before, which it had not read. */
  readonly toldBehind: number
  /** Leases of limits that it holds. */
  readonly leases: number
  /** Batches, jobs and evaluations that it has begun. */
  readonly work: number
  /** It does the work that one gateway does for all: 1, else 0. */
  readonly background: number
}

/** Rows of nodes that ended without a word are removed after a day. */
const forgottenAfterMs = 86_400_000

const nowMs = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"

const write = `INSERT INTO cluster_nodes (id, name, version, schema_version, started_at_ms, folder, seen_at_ms, config_seq, heard_at_ms)
  VALUES (?, ?, ?, ?, ?, ?, ${nowMs}, ?, ?)
  ON CONFLICT (id) DO UPDATE SET seen_at_ms = excluded.seen_at_ms, config_seq = excluded.config_seq, heard_at_ms = excluded.heard_at_ms`

const list = `SELECT id, name, version, schema_version, started_at_ms, folder, seen_at_ms, ${nowMs} - seen_at_ms AS silent_ms,
    (SELECT COUNT(*) FROM config_changes WHERE seq > cluster_nodes.config_seq) AS changes_behind,
    (SELECT COUNT(*) FROM cluster_told WHERE node <> cluster_nodes.id AND at_ms > cluster_nodes.heard_at_ms
      AND at_ms < cluster_nodes.seen_at_ms - 1000 AND at_ms >= cluster_nodes.started_at_ms) AS told_behind,
    (SELECT COUNT(*) FROM limit_leases JOIN limit_holders ON limit_holders.id = limit_leases.holder
      WHERE limit_holders.node = cluster_nodes.folder AND granted > spent) AS leases,
    (SELECT COUNT(*) FROM cluster_claims WHERE holder = cluster_nodes.folder) AS work,
    (SELECT COUNT(*) FROM cluster_claims WHERE cluster_claims.name = 'background' AND holder = cluster_nodes.id
      AND expires_at_ms >= ${nowMs}) AS background
  FROM cluster_nodes ORDER BY started_at_ms, id`

export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const named_ = <A>(operation: string, effect: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreError> =>
    Effect.mapError(effect, named(operation))
  return {
    seen: (
      { folder, id, name, schemaVersion, startedAtMs, version }: NodeFacts,
      configSeq: number,
      heardAtMs: number
    ): Effect.Effect<void, StoreError> =>
      named_(
        "NodeRows.seen",
        Effect.zipRight(
          sql.unsafe(write, [id, name, version, schemaVersion, startedAtMs, folder, configSeq, heardAtMs]),
          sql.unsafe(`DELETE FROM cluster_nodes WHERE seen_at_ms < ${nowMs} - ${forgottenAfterMs}`)
        )
      ),
    gone: (id: string): Effect.Effect<void, StoreError> =>
      named_("NodeRows.gone", Effect.asVoid(sql`DELETE FROM cluster_nodes WHERE id = ${id}`)),
    /** Gives up the work of a data folder; gives how much. */
    giveUpWork: (folder: string): Effect.Effect<number, StoreError> =>
      Effect.map(
        named_("NodeRows.giveUpWork", sql`DELETE FROM cluster_claims WHERE holder = ${folder} RETURNING name`),
        (rows) => rows.length
      ),
    list: named_("NodeRows.list", sql.unsafe<NodeRow>(list)) as Effect.Effect<ReadonlyArray<NodeRow>, StoreError>
  }
})
