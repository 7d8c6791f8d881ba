/** Calls of further repositories, drawn for histories: lists of models, evaluations, kept answers, states by key, series of usage. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { BillSumsRepo } from "../../../src/subjects/bills/BillSumsRepo.ts"
import { AnswerCacheRepo } from "../../../src/subjects/cache/repo.ts"
import { EvalRepo } from "../../../src/subjects/evals/repo.ts"
import { ModelListRepo } from "../../../src/subjects/models/ModelListRepo.ts"
import { QuotaRepo } from "../../../src/subjects/quotaGroups/QuotaRepo.ts"
import { SeriesRepo } from "../../../src/subjects/usage/SeriesRepo.ts"
import type { SeriesSelection } from "../../../src/store/usage/UsageSeriesSql.ts"
import { UsageHistoryRepo } from "../../../src/subjects/usageHistory/repo.ts"
import type { Dice, Step } from "./Histories.ts"
import { startMs } from "./Usage.ts"

type Maker = (dice: Dice) => Step

const dayMs = 86_400_000
const timeOf = (dice: Dice): number => 1_700_000_000_000 + dice.below(50) * 1_000

const lists: Maker = (dice) => {
  const row = {
    connectionId: `c-${dice.below(6)}`,
    source: "upstream" as const,
    hash: dice.orNull(dice.of(["h1", "h2"])),
    learnedAtMs: dice.orNull(timeOf(dice)),
    problem: null
  }
  const models = row.hash === null ? null : `["${row.hash}"]`
  return dice.of<Step>([
    { name: "lists.save", run: Effect.flatMap(ModelListRepo, (repo) => repo.save(row, models)) },
    { name: "lists.list", run: Effect.flatMap(ModelListRepo, (repo) => repo.list) },
    { name: "lists.texts", run: Effect.flatMap(ModelListRepo, (repo) => repo.texts) },
    { name: "lists.remove", run: Effect.flatMap(ModelListRepo, (repo) => repo.remove(row.connectionId)) }
  ])
}

const evals: Maker = (dice) => {
  const run = {
    id: `run-${dice.below(40)}`,
    suiteId: dice.of(["s-1", "s-2"]),
    suiteName: dice.text(),
    target: { type: "model" as const, id: "openai/gpt" },
    apiKeyId: null,
    caller: null,
    comparedWith: null,
    status: "running" as const,
    reason: null,
    total: 3,
    passed: 0,
    failed: 0,
    costNanoUsd: 0,
    latencyMs: 0,
    startedAtMs: timeOf(dice),
    finishedAtMs: null
  }
  const atMs = timeOf(dice)
  return dice.of<Step>([
    { name: "evals.addRuns", run: Effect.flatMap(EvalRepo, (repo) => repo.addRuns([run])) },
    { name: "evals.runs", run: Effect.flatMap(EvalRepo, (repo) => repo.runs(5)) },
    { name: "evals.finish", run: Effect.flatMap(EvalRepo, (repo) => repo.finish(run.id, "completed", null, atMs)) },
    { name: "evals.prune", run: Effect.flatMap(EvalRepo, (repo) => repo.prune(10, 1_700_000_005_000)) },
    { name: "evals.scores", run: Effect.flatMap(EvalRepo, (repo) => repo.scores) }
  ])
}

const answers: Maker = (dice) => {
  const key = `k-${dice.below(20)}`
  const owner = dice.of(["", "key-1", "key-2"])
  const answer = {
    form: "whole" as const,
    variant: "",
    contentType: "application/json",
    body: Buffer.alloc(1 + dice.below(200), 97),
    hasToolCalls: false,
    provider: "openai",
    model: "gpt",
    costNanoUsd: dice.below(1e6),
    createdAtMs: timeOf(dice),
    expiresAtMs: timeOf(dice) + 20_000
  }
  const meaning = dice.orNull({ bucket: "b", wording: { exact: "x", words: ["x"] }, vector: new Float32Array([1, 0]) })
  const nowMs = timeOf(dice)
  const bounds = { maxEntries: 8, maxBytes: 1_000, nowMs }
  return dice.of<Step>([
    {
      name: "answers.put",
      run: Effect.flatMap(AnswerCacheRepo, (repo) => repo.put(operatorsOwn, key, owner, answer, meaning))
    },
    { name: "answers.get", run: Effect.flatMap(AnswerCacheRepo, (repo) => repo.get(key, nowMs)) },
    {
      name: "answers.meanings",
      run: Effect.flatMap(AnswerCacheRepo, (repo) => repo.meanings({ bucket: "b", limit: 5, nowMs, offset: 0 }))
    },
    { name: "answers.trim", run: Effect.flatMap(AnswerCacheRepo, (repo) => repo.trim(bounds)) }
  ])
}

const states: Maker = (dice) => {
  const [key, state] = [dice.text(), `{"n":${dice.below(9)}}`]
  const texts = Effect.map(
    Effect.flatMap(QuotaRepo, (repo) => repo.list),
    // The time of a change is the clock's.
    (rows) => rows.map((row) => `${row.key}=${row.state}`).toSorted()
  )
  return dice.of<Step>([
    { name: "states.save", run: Effect.flatMap(QuotaRepo, (repo) => repo.save(key, state)) },
    { name: "states.list", run: texts },
    { name: "states.remove", run: Effect.flatMap(QuotaRepo, (repo) => repo.remove(key)) }
  ])
}

const untilMs = startMs + 3 * dayMs

const series: Maker = (dice) => {
  const steps = {
    starts: [startMs, startMs + dayMs, startMs + 2 * dayMs],
    endMs: untilMs,
    offsets: [{ fromMs: startMs, offsetMs: 7_200_000 }]
  }
  const ofSums: SeriesSelection["source"] = {
    basis: "sums",
    parts: [{ grainMs: 3_600_000, sinceMs: startMs, untilMs, without: [startMs] }],
    isWide: dice.chance(0.5)
  }
  const ofLog: SeriesSelection["source"] = { basis: "log", leastId: "", beforeId: "\u{10ffff}" }
  const wanted: SeriesSelection = {
    steps,
    unitMs: dayMs,
    by: dice.of([null, "model", "provider", "outcome", ["provider", "model"]] as const),
    top: 1 + dice.below(4),
    source: dice.of([ofSums, ofLog]),
    conditions: dice.of([[], [{ sql: "provider = ?", parameters: ["openai"] }]])
  }
  const points = Effect.map(
    Effect.flatMap(SeriesRepo, (repo) => repo.points(wanted)),
    (all) =>
      all
        // A list of points has no order of its own.
        .map((one) =>
          JSON.stringify({ ...one, points: (JSON.parse(one.points) as ReadonlyArray<unknown>).map(String).toSorted() })
        )
        .toSorted()
  )
  const source = { by: "rows" as const, sinceMs: startMs + dice.below(3) * dayMs, offsets: steps.offsets }
  const history = Effect.map(
    Effect.flatMap(UsageHistoryRepo, (repo) => repo.breakdown(source)),
    // Names with as many requests have no order.
    ({ days, models, providers, summary }) => [
      summary,
      [...days.keys()].toSorted(),
      ...[models, providers].map((all) => all.map((one) => `${one.provider}/${one.name}=${one.requests}`).toSorted())
    ]
  )
  return dice.of<Step>([
    { name: `series.points ${String(wanted.by)} ${wanted.source.basis}`, run: points },
    {
      name: `series.totals ${String(wanted.by)} ${wanted.source.basis}`,
      run: Effect.flatMap(SeriesRepo, (repo) => repo.totals(wanted))
    },
    { name: "history.breakdown", run: history }
  ])
}

const owned: Maker = (dice) => {
  const key = dice.of(["key-1", "key-2"])
  const [person, team] = [dice.orNull(dice.of(["ada", "bo"])), dice.orNull(dice.of(["research", "sales"]))]
  const fromMs = startMs + dice.below(3 * 86_400) * 1_000
  const move = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.zipRight(
      sql`UPDATE key_owners SET until_ms = ${fromMs} WHERE api_key_id = ${key} AND until_ms IS NULL`,
      sql`INSERT INTO key_owners (api_key_id, user_id, team_id, from_ms) VALUES (${key}, ${person}, ${team}, ${fromMs})`
    )
  )
  const owner = { userId: dice.of(["ada", "bo"]), teamIds: dice.of([[], ["research"], ["research", "sales"]]) }
  const span = { fromMs: startMs + dice.below(6) * 900_000, untilMs }
  const months = [{ month: "2026-09", ...span }]
  const splitMs = startMs + dice.below(3) * dayMs
  const bill = Effect.map(
    Effect.flatMap(BillSumsRepo, (repo) => repo.sums(span, splitMs, { months, lastSeq: 0 })),
    // Numbers of rows are those of the engine, and so is the order of texts.
    ({ corrections, lines }) => [lines, corrections].map((all) => all.map((line) => JSON.stringify(line)).toSorted())
  )
  const offsets = [{ fromMs: startMs, offsetMs: 0 }]
  const source = dice.of([
    { by: "rows" as const, sinceMs: startMs, offsets },
    { by: "sums" as const, sinceMs: startMs, splitMs, untilMs, offsets }
  ])
  const ownHistory = Effect.map(
    Effect.flatMap(UsageHistoryRepo, (repo) => repo.breakdown(source, owner)),
    ({ apiKeys, days, summary }) => [
      summary,
      [...days.keys()].toSorted(),
      apiKeys.map(({ name, requests }) => `${name}=${requests}`).toSorted()
    ]
  )
  return dice.of<Step>([
    { name: "owners.move", run: Effect.asVoid(move) },
    { name: "bills.sums", run: bill },
    { name: `history of an owner by ${source.by}`, run: ownHistory }
  ])
}

export const others: ReadonlyArray<Maker> = [lists, evals, answers, states]
export const usageSeries: ReadonlyArray<Maker> = [series, owned]
