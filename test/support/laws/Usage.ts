/** Calls of the repositories of usage, drawn for histories: rows, sums, what is spent, pages, searches, series. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import type { Outcome } from "../../../src/contract/domain/Usage.ts"
import { PerFacts } from "../../../src/contract/domain/UsageFacts.ts"
import { insert, sharedFacts } from "../../../src/store/usage/UsageInsert.ts"
import { CallSumsRepo } from "../../../src/subjects/usage/CallSumsRepo.ts"
import { FacetsRepo } from "../../../src/subjects/usage/FacetsRepo.ts"
import { LedgerRepo } from "../../../src/subjects/usage/LedgerRepo.ts"
import { type UsageFilter, UsageRepo } from "../../../src/subjects/usage/repo.ts"
import { SeriesRepo } from "../../../src/subjects/usage/SeriesRepo.ts"
import { SpendRepo } from "../../../src/subjects/usage/SpendRepo.ts"
import { UsageSearchRepo } from "../../../src/subjects/usage/UsageSearchRepo.ts"
import { UsageSumsRepo } from "../../../src/subjects/usage/UsageSumsRepo.ts"
import { usageRow } from "../usageRow.ts"
import type { Dice, Step } from "./Histories.ts"

type Maker = (dice: Dice) => Step

/** 20 September 2026, UTC. */
export const startMs = Date.UTC(2026, 8, 20)
const stepMs = 600_000
const mostRows = 400

const idOf = (n: number): string => {
  const time = (startMs + n * stepMs).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`
}

const rowOf = (dice: Dice) => {
  const n = dice.below(mostRows)
  return usageRow({
    id: idOf(n),
    requestId: dice.chance(0.3) ? `theirs-${n}` : idOf(n),
    timestampMs: startMs + n * stepMs - dice.of([0, 0, 90_000]),
    apiKeyId: dice.orNull(dice.of(["key-1", "key-2"])),
    provider: dice.orNull(dice.of(["openai", "groq"])),
    connectionId: dice.orNull("c-1"),
    model: dice.orNull(dice.of(["gpt", "llama", dice.text()])),
    requestedModel: dice.text(),
    combo: dice.orNull("fast"),
    outcome: dice.of<Outcome>(["completed", "failed", "aborted"]),
    status: dice.of([200, 429, 503]),
    attempts: dice.below(3),
    priced: dice.chance(0.8),
    ttftMs: dice.orNull(dice.below(500)),
    latencyMs: dice.below(40_000),
    tokens: {
      in: dice.below(1e6),
      out: dice.below(1e4),
      cacheRead: dice.below(9),
      cacheWrite: 0,
      reasoning: dice.below(9)
    },
    costNanoUsd: dice.below(1e9) + dice.of([0, 0.5, 1 / 3]),
    told: dice.orNull({ in: dice.below(9), out: 1, cacheRead: 2, cacheWrite: 3, reasoning: 4 }),
    costNotes: dice.orNull({ unpricedParts: ["input"], computedNanoUsd: dice.orNull(dice.below(9)), facts: null }),
    price: dice.orNull({ input: 1, output: dice.below(9) }),
    egress: dice.orNull("direct"),
    error: dice.orNull(dice.text()),
    batchId: dice.of([null, null, "batch-1"]),
    sessionId: dice.orNull("session-1"),
    reservedNanoUsd: dice.below(1e6)
  })
}

const rows: Maker = (dice) => {
  const made = Array.from({ length: 1 + dice.below(40) }, () => rowOf(dice))
  const waitsForDisk = dice.chance(0.5)
  return {
    name: "usage.insert",
    run: Effect.flatMap(SqlClient.SqlClient, (sql) => {
      const facts = new PerFacts(sharedFacts)
      return insert(
        sql,
        made.map((row) => ({ row, facts: facts.of(row) })),
        waitsForDisk
      )
    })
  }
}

const sums: Maker = (dice) => {
  const beforeMs = startMs + dice.below(mostRows / 4) * stepMs
  const nowMs = startMs + mostRows * stepMs
  return dice.of<Step>([
    { name: "sums.sumNext", run: Effect.flatMap(UsageSumsRepo, (repo) => repo.sumNext) },
    { name: "sums.sumNext", run: Effect.flatMap(UsageSumsRepo, (repo) => repo.sumNext) },
    {
      name: "sums.deleteSome",
      run: Effect.flatMap(UsageSumsRepo, (repo) => repo.deleteSome({ _tag: "Before", beforeMs }, 2 ** 40, nowMs))
    },
    { name: "sums.deleteOldSums", run: Effect.flatMap(UsageSumsRepo, (repo) => repo.deleteOldSums(beforeMs)) }
  ])
}

const filterOf = (dice: Dice): UsageFilter => {
  const filters: ReadonlyArray<UsageFilter> = [
    {},
    { apiKeyId: "key-1" },
    { provider: "openai", outcome: "completed" },
    { model: "openai/gpt" },
    { status: [400, 599] },
    { search: dice.of(["GPT", "100%", "a_b", "429", "É", "theirs", dice.text()]) },
    { error: "it's" },
    { minCostNanoUsd: 5e8, minLatencyMs: 1_000 },
    { sessionId: "session-1" },
    { batchId: "batch-1", combo: "fast" }
  ]
  const filter = dice.of(filters)
  if (dice.chance(0.6)) return filter
  const from = dice.below(mostRows)
  return { ...filter, sinceMs: startMs + from * stepMs, untilMs: startMs + (from + 100) * stepMs }
}

const pages: Maker = (dice) => {
  const filter = filterOf(dice)
  const limit = 1 + dice.below(30)
  const cursor = dice.orNull(idOf(dice.below(mostRows)))
  const asked = idOf(dice.below(mostRows))
  const ledger = { limit, cursor: dice.orNull({ requestId: idOf(dice.below(mostRows)), attempt: 1 }) }
  return dice.of<Step>([
    {
      name: `usage.page ${JSON.stringify(filter)}`,
      run: Effect.flatMap(UsageRepo, (repo) => repo.page({ limit, cursor, filter }))
    },
    {
      name: `usage.search ${JSON.stringify(filter)}`,
      run: Effect.flatMap(UsageSearchRepo, (repo) => repo.before(cursor ?? "\u{10ffff}", limit, filter))
    },
    {
      name: `usage.facets ${JSON.stringify(filter)}`,
      run: Effect.flatMap(FacetsRepo, (repo) => repo.facets(filter, 5))
    },
    { name: "ledger.page", run: Effect.flatMap(LedgerRepo, (repo) => repo.page(ledger)) },
    {
      name: "ledger.page of a key",
      run: Effect.flatMap(LedgerRepo, (repo) => repo.page({ ...ledger, apiKeyId: "key-1" }))
    },
    { name: "usage.get", run: Effect.flatMap(UsageRepo, (repo) => repo.get(asked)) }
  ])
}

const spend: Maker = (dice) => {
  const from = dice.below(mostRows)
  const range = {
    sinceMs: startMs + from * stepMs - dice.below(stepMs),
    untilMs: startMs + (from + dice.below(200)) * stepMs
  }
  const query = {
    ...range,
    apiKeyId: dice.of(["key-1", "key-2"]),
    ...(dice.chance(0.3) ? { provider: "openai", model: "gpt" } : {})
  }
  const byModel = dice.chance(0.5)
  const sorted = <A>(found: Effect.Effect<ReadonlyArray<A>, unknown, SpendRepo>) =>
    Effect.map(found, (all) => all.map((one) => JSON.stringify(one, Object.keys(one as object).toSorted())).toSorted())
  return dice.of<Step>([
    { name: "spend.sum", run: Effect.flatMap(SpendRepo, (repo) => repo.sum(query)) },
    {
      name: "spend.sumWith",
      run: Effect.flatMap(SpendRepo, (repo) => repo.sumWith(query, () => [idOf(from), idOf(from + 1), "none"]))
    },
    { name: "spend.sums", run: sorted(Effect.flatMap(SpendRepo, (repo) => repo.sums(range, byModel))) },
    {
      name: "spend.lastArrivals",
      run: Effect.map(
        Effect.flatMap(SpendRepo, (repo) => repo.lastArrivals(range.sinceMs)),
        (found) => [...found].toSorted()
      )
    },
    {
      name: "spend.arrivals",
      run: Effect.flatMap(SpendRepo, (repo) => repo.arrivals(query.apiKeyId, range.sinceMs, 20))
    },
    {
      name: "calls.sums",
      run: Effect.flatMap(CallSumsRepo, (repo) =>
        repo.sums({ provider: "openai", sinceMs: startMs, untilMs: startMs + 3 * 86_400_000 })
      )
    },
    {
      name: "series.behind",
      run: Effect.map(
        Effect.flatMap(SeriesRepo, (repo) => repo.behind),
        (rows) => rows > 0
      )
    }
  ])
}

export const usage: ReadonlyArray<Maker> = [rows, sums, sums, pages, pages, spend]
