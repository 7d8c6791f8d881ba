/** Evaluations: suites that were added, runs, and what became of each case. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { OnFile } from "../../contract/domain/ContentPermission.ts"
import { knownCallers } from "../../contract/domain/Usage.ts"
import {
  type EvalCase,
  type EvalResult,
  type EvalRun,
  type EvalScore,
  type EvalSuite,
  runStatuses,
  targetTypes
} from "./entity.ts"
import { Flag, Json, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export class EvalRepo extends Context.Tag("gateway/subjects/evals/EvalRepo")<
  EvalRepo,
  {
    /** Oldest first. */
    readonly suites: Effect.Effect<ReadonlyArray<EvalSuite>, StoreError>
    readonly suite: (id: string) => Effect.Effect<EvalSuite | null, StoreError>
    /** Adds it, or replaces the one with its id. */
    readonly saveSuite: (suite: EvalSuite) => Effect.Effect<void, StoreError>
    /** False when there is no such id. Its runs stay. */
    readonly removeSuite: (id: string) => Effect.Effect<boolean, StoreError>
    /** Newest first. */
    readonly runs: (limit: number) => Effect.Effect<ReadonlyArray<EvalRun>, StoreError>
    readonly run: (id: string) => Effect.Effect<EvalRun | null, StoreError>
    readonly addRuns: (runs: ReadonlyArray<EvalRun>) => Effect.Effect<void, StoreError>
    /** Records what became of a case, and counts it in its run. */
    readonly addResult: (runId: string, result: OnFile<EvalResult>) => Effect.Effect<void, StoreError>
    /** Lists the results in the order of the suite. */
    readonly results: (runId: string) => Effect.Effect<ReadonlyArray<EvalResult>, StoreError>
    /** Ends a run that is running. */
    readonly finish: (
      id: string,
      status: Exclude<EvalRun["status"], "running">,
      reason: string | null,
      atMs: number
    ) => Effect.Effect<void, StoreError>
    /** Ends every run that is running, as failed. */
    readonly failRunning: (ids: ReadonlyArray<string>, reason: string, atMs: number) => Effect.Effect<void, StoreError>
    /** Ids of the runs that are not over. */
    readonly running: Effect.Effect<ReadonlyArray<string>, StoreError>
    /** Removes runs that ended before, and the oldest beyond `most`. A run that is running stays. */
    readonly prune: (most: number, beforeMs: number) => Effect.Effect<void, StoreError>
    /** Lists the results of each model in each suite, in the last complete run in which it answered. */
    readonly scores: Effect.Effect<ReadonlyArray<EvalScore>, StoreError>
  }
>() {}

const SuiteRow = Schema.Struct({
  id: Text,
  name: Text,
  cases: Json(Schema.Unknown),
  createdAtMs: Whole,
  updatedAtMs: Whole
})

const RunRow = Schema.Struct({
  id: Text,
  suiteId: Text,
  suiteName: Text,
  targetType: Schema.Literal(...targetTypes),
  targetId: Text,
  apiKeyId: MaybeText,
  caller: Schema.NullOr(Schema.Literal(...knownCallers)),
  comparedWith: MaybeText,
  status: Schema.Literal(...runStatuses),
  reason: MaybeText,
  total: Whole,
  passed: Whole,
  failed: Whole,
  costNanoUsd: Schema.Number,
  latencyMs: Whole,
  startedAtMs: Whole,
  finishedAtMs: MaybeWhole
})

const ResultRow = Schema.Struct({
  runId: Text,
  position: Whole,
  caseId: Text,
  name: Text,
  passed: Flag,
  answered: Flag,
  latencyMs: Whole,
  output: MaybeText,
  reason: MaybeText,
  requestId: Text,
  provider: MaybeText,
  model: MaybeText,
  costNanoUsd: Schema.Number
})

const ScoreRow = Schema.Struct({
  suiteId: Text,
  provider: Text,
  model: Text,
  cases: Whole,
  passed: Whole,
  latencyMs: Whole,
  atMs: Whole
})

/** Converts a row; its cases were checked when they were saved. */
const toSuite = (row: typeof SuiteRow.Type): EvalSuite => ({ ...row, cases: row.cases as ReadonlyArray<EvalCase> })

const toRun = ({ targetId, targetType, ...row }: typeof RunRow.Type): EvalRun => ({
  ...row,
  target: { type: targetType, id: targetId }
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const suites = Table.make(sql, "eval_suites", SuiteRow)
  const runs = Table.make(sql, "eval_runs", RunRow)
  const results = Table.make(sql, "eval_results", ResultRow)

  const saveSuite = Effect.fn("EvalRepo.saveSuite")((suite: EvalSuite) => {
    const cases = JSON.stringify(suite.cases)
    return Effect.mapError(
      sql`INSERT INTO eval_suites ${sql.insert({ ...suite, cases })}
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, cases = excluded.cases, updated_at_ms = excluded.updated_at_ms`,
      Table.named("EvalRepo.saveSuite")
    )
  })

  const addRuns = Effect.fn("EvalRepo.addRuns")((added: ReadonlyArray<EvalRun>) =>
    Effect.forEach(
      added,
      ({ target, ...run }) =>
        sql`INSERT INTO eval_runs ${sql.insert({ ...run, targetType: target.type, targetId: target.id })}`,
      { discard: true }
    ).pipe(sql.withTransaction, Effect.mapError(Table.named("EvalRepo.addRuns")))
  )

  const addResult = Effect.fn("EvalRepo.addResult")((runId: string, { row: result }: OnFile<EvalResult>) => {
    const { answered, costNanoUsd, latencyMs, passed } = result
    const row = {
      ...result,
      runId,
      passed: passed ? 1 : 0,
      answered: answered ? 1 : 0,
      latencyMs: Math.round(latencyMs)
    }
    return Effect.gen(function* () {
      yield* sql`INSERT INTO eval_results ${sql.insert(row)}`
      yield* sql`UPDATE eval_runs SET passed = passed + ${row.passed}, failed = failed + ${1 - row.passed},
        cost_nano_usd = cost_nano_usd + ${costNanoUsd}, latency_ms = latency_ms + ${row.latencyMs} WHERE id = ${runId}`
    }).pipe(sql.withTransaction, Effect.mapError(Table.named("EvalRepo.addResult")))
  })

  const prune = Effect.fn("EvalRepo.prune")((most: number, beforeMs: number) =>
    Effect.gen(function* () {
      yield* sql`DELETE FROM eval_runs WHERE status <> 'running' AND (started_at_ms < ${beforeMs}
        OR id NOT IN (SELECT id FROM eval_runs ORDER BY started_at_ms DESC, id DESC LIMIT ${most}))`
      yield* sql`DELETE FROM eval_results WHERE run_id NOT IN (SELECT id FROM eval_runs)`
    }).pipe(sql.withTransaction, Effect.mapError(Table.named("EvalRepo.prune")))
  )

  return EvalRepo.of({
    suites: Effect.map(suites.select("EvalRepo.suites", sql`ORDER BY created_at_ms, id`), (rows) => rows.map(toSuite)),
    suite: Effect.fn("EvalRepo.suite")((id: string) =>
      Effect.map(suites.first("EvalRepo.suite", sql`WHERE id = ${id}`), (row) => (row === null ? null : toSuite(row)))
    ),
    saveSuite: (suite) => Effect.asVoid(saveSuite(suite)),
    removeSuite: (id) => suites.remove("EvalRepo.removeSuite", sql`id = ${id}`),
    runs: Effect.fn("EvalRepo.runs")((limit: number) =>
      Effect.map(runs.select("EvalRepo.runs", sql`ORDER BY started_at_ms DESC, id DESC LIMIT ${limit}`), (rows) =>
        rows.map(toRun)
      )
    ),
    run: Effect.fn("EvalRepo.run")((id: string) =>
      Effect.map(runs.first("EvalRepo.run", sql`WHERE id = ${id}`), (row) => (row === null ? null : toRun(row)))
    ),
    addRuns,
    addResult,
    results: (runId) => results.select("EvalRepo.results", sql`WHERE run_id = ${runId} ORDER BY position`),
    finish: Effect.fn("EvalRepo.finish")((id, status, reason, atMs) =>
      sql`UPDATE eval_runs SET status = ${status}, reason = ${reason}, finished_at_ms = ${Math.trunc(atMs)}
        WHERE id = ${id} AND status = 'running'`.pipe(Effect.asVoid, Effect.mapError(Table.named("EvalRepo.finish")))
    ),
    failRunning: Effect.fn("EvalRepo.failRunning")((ids: ReadonlyArray<string>, reason: string, atMs: number) =>
      ids.length === 0
        ? Effect.void
        : sql`UPDATE eval_runs SET status = 'failed', reason = ${reason}, finished_at_ms = ${Math.trunc(atMs)}
            WHERE status = 'running' AND id IN ${sql.in(ids)}`.pipe(
            Effect.asVoid,
            Effect.mapError(Table.named("EvalRepo.failRunning"))
          )
    ),
    running: sql<{ readonly id: string }>`SELECT id FROM eval_runs WHERE status = 'running' ORDER BY id`.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      Effect.mapError(Table.named("EvalRepo.running"))
    ),
    prune,
    // Columns without an aggregate are those of the row with the greatest `at_ms`, as SQLite documents for `max`.
    scores: sql`SELECT suite_id, provider, model, cases, passed, latency_ms, at_ms FROM (
        SELECT completed.*, ROW_NUMBER() OVER (PARTITION BY suite_id, provider, model ORDER BY at_ms DESC, run_id DESC) AS place FROM (
          SELECT runs.id AS run_id, runs.suite_id, results.provider, results.model, count(*) AS cases, sum(results.passed) AS passed,
            sum(results.latency_ms) AS latency_ms, runs.finished_at_ms AS at_ms
          FROM eval_runs AS runs JOIN eval_results AS results ON results.run_id = runs.id
          WHERE runs.status = 'completed' AND results.answered = 1 AND results.provider IS NOT NULL AND results.model IS NOT NULL
          GROUP BY runs.id, results.provider, results.model
        ) AS completed
      ) AS placed WHERE place = 1 ORDER BY suite_id, provider, model`.pipe(
      Effect.flatMap(Schema.decodeUnknown(Schema.Array(ScoreRow))),
      Effect.mapError(Table.named("EvalRepo.scores")),
      Effect.withSpan("EvalRepo.scores")
    )
  })
})

export const layer: Layer.Layer<EvalRepo, never, SqlClient.SqlClient> = Layer.effect(EvalRepo, make)
