/** Filters of the usage log by their index: the same rows as by looking at each of them, whatever was summed up and deleted. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import type { Outcome, UsageRow } from "../../../src/contract/domain/Usage.ts"
import { PerFacts } from "../../../src/contract/domain/UsageFacts.ts"
import { layerMemory as readWorker } from "../../../src/store/engine/ReadWorker.ts"
import * as LedgerRepo from "../../../src/subjects/usage/LedgerRepo.ts"
import * as UsageRepo from "../../../src/subjects/usage/repo.ts"
import * as UsageSearchRepo from "../../../src/subjects/usage/UsageSearchRepo.ts"
import * as UsageSumsRepo from "../../../src/subjects/usage/UsageSumsRepo.ts"
import * as Sql from "../../../src/store/Sql.ts"
import { insert, sharedFacts } from "../../../src/store/usage/UsageInsert.ts"
import { usageRow } from "../../support/usageRow.ts"

const startMs = Date.UTC(2026, 8, 20)
const end = "\u{10ffff}"

const idOf = (n: number): string => {
  const time = (startMs + n * 1_000).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`
}

const services = UsageSearchRepo.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(UsageRepo.layer, UsageSumsRepo.layer, LedgerRepo.layer, readWorker)),
  Layer.provideMerge(Sql.layerMemory)
)

const put = (rows: ReadonlyArray<UsageRow>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const facts = new PerFacts(sharedFacts)
    return insert(
      sql,
      rows.map((row) => ({ row, facts: facts.of(row) })),
      false
    )
  })

const sumAll = Effect.gen(function* () {
  const { sumNext } = yield* UsageSumsRepo.UsageSumsRepo
  while (yield* sumNext);
})

const anyRow = FastCheck.record({
  apiKeyId: FastCheck.constantFrom("key-1", "key-2", null),
  provider: FastCheck.constantFrom("openai", "groq", null),
  connectionId: FastCheck.constantFrom("c-1", "c-2", null),
  model: FastCheck.constantFrom("gpt", "llama", null),
  requestedModel: FastCheck.constantFrom("auto", "openai/gpt"),
  combo: FastCheck.constantFrom("fast", null),
  outcome: FastCheck.constantFrom<Outcome>("completed", "failed", "aborted"),
  status: FastCheck.constantFrom(200, 429, 503),
  attempts: FastCheck.constantFrom(1, 2),
  error: FastCheck.constantFrom(null, "100% busy", "key_1 is wrong"),
  batchId: FastCheck.constantFrom(null, null, "batch-1"),
  sessionId: FastCheck.constantFrom(null, "session-1", "session-2"),
  latencyMs: FastCheck.constantFrom(100, 5_000, 20_000),
  costNanoUsd: FastCheck.constantFrom(0, 1_000.5, 2_000_000),
  answeredFrom: FastCheck.constantFrom(null, "cache" as const, "coalesced" as const),
  /** The clock was set back. */
  backMs: FastCheck.constantFrom(0, 0, 0, 30_000),
  isTheirs: FastCheck.constantFrom(false, false, true)
})

const optional = <A>(...values: ReadonlyArray<A>) => FastCheck.constantFrom(undefined, undefined, ...values)

const anyFilter = FastCheck.record({
  apiKeyId: optional("key-1", "none"),
  provider: optional("openai", "groq"),
  connectionId: optional("c-2"),
  model: optional("gpt", "groq/llama"),
  requestedModel: optional("auto"),
  outcome: optional("failed" as const, "completed" as const),
  status: optional([429, 429] as const, [400, 599] as const),
  batchId: optional("batch-1"),
  combo: optional("fast"),
  endedAs: optional("aborted" as const),
  sessionId: FastCheck.constantFrom(undefined, undefined, undefined, undefined, "session-1"),
  error: FastCheck.constantFrom(undefined, undefined, undefined, undefined, "100% busy"),
  minLatencyMs: FastCheck.constantFrom(undefined, undefined, undefined, undefined, 5_000),
  minCostNanoUsd: FastCheck.constantFrom(undefined, undefined, undefined, undefined, 1_000.25),
  cacheHit: FastCheck.constantFrom(undefined, undefined, undefined, undefined, true, false),
  search: optional("BUSY", "100%", "y_1", "fast", "theirs-7", "00f", idOf(3), "503", "nothing"),
  sinceMs: optional(startMs + 10_000),
  untilMs: optional(startMs + 50_000)
})

type Filter = typeof anyFilter extends FastCheck.Arbitrary<infer A> ? A : never

const isWanted = (row: UsageRow, filter: Filter): boolean => {
  const equal = [
    "apiKeyId",
    "provider",
    "connectionId",
    "requestedModel",
    "outcome",
    "batchId",
    "combo",
    "sessionId",
    "error"
  ] as const
  const { model, search, sinceMs, status, untilMs } = filter
  const texts = [
    row.id,
    row.requestId,
    row.apiKeyId,
    row.requestedModel,
    row.combo,
    row.provider,
    row.connectionId,
    row.model,
    row.outcome,
    row.error,
    String(row.status)
  ]
  return (
    equal.every((name) => filter[name] === undefined || filter[name] === row[name]) &&
    (filter.endedAs === undefined || filter.endedAs === row.outcome) &&
    row.latencyMs >= (filter.minLatencyMs ?? 0) &&
    row.costNanoUsd >= (filter.minCostNanoUsd ?? 0) &&
    (filter.cacheHit === undefined || filter.cacheHit === (row.answeredFrom === "cache")) &&
    (model === undefined ||
      model === row.model ||
      (row.provider !== null && model === `${row.provider}/${row.model}`)) &&
    (status === undefined || (row.status >= status[0] && row.status <= status[1])) &&
    (sinceMs === undefined || row.timestampMs >= sinceMs) &&
    (untilMs === undefined || row.timestampMs < untilMs) &&
    (search === undefined || texts.some((text) => text?.toLowerCase().includes(search.toLowerCase()) === true))
  )
}

const given = (filter: Filter): UsageRepo.UsageFilter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))

describe("the index of the filters", () => {
  it("finds the rows of any filter in full pages", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(anyRow, { minLength: 1, maxLength: 80, size: "max" }),
        FastCheck.nat(80),
        FastCheck.nat(30),
        FastCheck.array(anyFilter, { minLength: 4, maxLength: 4 }),
        FastCheck.integer({ min: 1, max: 20 }),
        (made, summed, gone, filters, limit) =>
          Effect.gen(function* () {
            const search = yield* UsageSearchRepo.UsageSearchRepo
            const sums = yield* UsageSumsRepo.UsageSumsRepo
            const all = made.map(({ backMs, isTheirs, ...row }, n) =>
              usageRow({
                ...row,
                id: idOf(n),
                requestId: isTheirs ? `theirs-${n}` : idOf(n),
                timestampMs: startMs + n * 1_000 - backMs
              })
            )
            yield* put(all.slice(0, summed))
            yield* sumAll
            const before = startMs + gone * 1_000
            while (
              (yield* sums.deleteSome({ _tag: "Before", beforeMs: before }, Number.MAX_SAFE_INTEGER, startMs)) > 0
            );
            yield* put(all.slice(summed))
            const left = all.filter((row, n) => n >= summed || row.timestampMs >= before)
            for (const filter of filters) {
              const found: Array<string> = []
              let cursor: string | null = end
              while (cursor !== null) {
                const page: UsageRepo.UsagePage = yield* search.before(cursor, limit, given(filter))
                found.push(...page.rows.map(({ id }) => id))
                assert.isTrue(page.nextCursor === null || page.rows.length === limit, "a page in between is full")
                cursor = page.nextCursor
              }
              const wanted = left.filter((row) => isWanted(row, filter)).map(({ id }) => id)
              assert.deepStrictEqual(found, wanted.toReversed(), JSON.stringify(filter))
            }
          }).pipe(Effect.provide(Layer.fresh(services)), Effect.runPromise)
      ),
      { numRuns: 60 }
    )
  })

  it.scoped("keeps no combination whose rows are gone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sums = yield* UsageSumsRepo.UsageSumsRepo
      yield* put([0, 1, 2].map((n) => usageRow({ id: idOf(n), timestampMs: startMs + n, model: `m-${n}` })))
      yield* sumAll
      yield* sums.deleteSome({ _tag: "Before", beforeMs: startMs + 2 }, Number.MAX_SAFE_INTEGER, startMs)
      const models = yield* sql<{ readonly model: string }>`SELECT model FROM usage_facets`
      const rows = yield* sql<{ readonly id: string }>`SELECT id FROM usage_facet_rows`
      assert.deepStrictEqual([models, rows], [[{ model: "m-2" }], [{ id: idOf(2) }]])
    }).pipe(Effect.provide(Layer.fresh(services)))
  )

  it.scoped("has the ledger of a key in full pages", () =>
    Effect.gen(function* () {
      const ledger = yield* LedgerRepo.LedgerRepo
      const rows = Array.from({ length: 40 }, (_, n) =>
        usageRow({ id: idOf(n), requestId: idOf(n), apiKeyId: n < 5 ? "rare" : "often", timestampMs: startMs + n })
      )
      yield* put(rows.slice(0, 30))
      yield* sumAll
      yield* put(rows.slice(30))
      const first = yield* ledger.page({ limit: 3, cursor: null, apiKeyId: "rare" })
      assert.deepStrictEqual(
        first.entries.map(({ requestId }) => requestId),
        [idOf(4), idOf(3), idOf(2)]
      )
      const second = yield* ledger.page({ limit: 3, cursor: first.nextCursor, apiKeyId: "rare" })
      assert.deepStrictEqual(
        [second.entries.map(({ requestId }) => requestId), second.nextCursor],
        [[idOf(1), idOf(0)], null]
      )
    }).pipe(Effect.provide(Layer.fresh(services)))
  )
})
