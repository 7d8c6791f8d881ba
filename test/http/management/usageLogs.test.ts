/** The filters of `/api/usage/logs`, and following it. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import { usageRow } from "../../support/usageRow.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const startMs = Date.parse("2030-01-01T00:00:00Z")
const hex = (ms: number): string => ms.toString(16).padStart(12, "0")

/** The row of a request that arrived `n` minutes after the first. */
const at = (n: number, more: Partial<UsageRow> = {}): UsageRow => {
  const timestampMs = startMs + n * 60_000
  const time = hex(timestampMs)
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-00000000000${n}`
  return usageRow({ id, requestId: id, timestampMs, ...more })
}

const rows = [
  at(0, { apiKeyId: "key-2", batchId: "batch_1", latencyMs: 9_000, sessionId: "session-7" }),
  at(1, { provider: "groq", model: "llama", connectionId: "c-groq", combo: "fast", answeredFrom: "cache" }),
  at(2, { status: 503, outcome: "failed", error: "The provider is overloaded (100%)" }),
  at(3, { status: 429, outcome: "failed", requestedModel: "auto", costNanoUsd: 2_000_000_000 }),
  at(4, { status: 499, outcome: "aborted", requestId: "theirs-4" })
] as const

/** Numbers of the rows of an answer. */
const numbersOf = (text: string): ReadonlyArray<number> =>
  (JSON.parse(text) as { logs: ReadonlyArray<{ id: string }> }).logs.map(({ id }) => Number(id.at(-1)))

it.layer(layerOf())("the log of requests", (it) => {
  const asked = Effect.fnUntraced(function* (query: string, path = "/api/usage/logs") {
    const app = yield* TestApp
    return yield* app.admin(`${path}?${query}`)
  })

  it.effect("is filtered by the server, also under its other name", () =>
    Effect.gen(function* () {
      const journal = yield* UsageJournal.UsageJournal
      journal.append(...rows)
      for (const [query, wanted] of [
        ["", [4, 3, 2, 1, 0]],
        ["provider=groq", [1]],
        ["model=llama", [1]],
        ["model=groq/llama", [1]],
        ["model=openai/llama", []],
        ["requestedModel=auto", [3]],
        ["connectionId=c-groq", [1]],
        ["apiKeyId=key-2", [0]],
        ["batchId=batch_1", [0]],
        ["batchId=batch_2", []],
        ["sessionId=session-7", [0]],
        ["sessionId=session-8", []],
        ["sessionId=session-7&status=5xx", []],
        ["combo=fast", [1]],
        ["outcome=failed", [3, 2]],
        ["outcome=failed&status=aborted", []],
        ["error=The%20provider%20is%20overloaded%20(100%25)", [2]],
        ["error=overloaded", []],
        ["minLatencyMs=9000", [0]],
        ["minLatencyMs=250.5", [0]],
        ["minLatencyMs=0", [4, 3, 2, 1, 0]],
        ["minCostUsd=2", [3]],
        ["minCostUsd=0.0015&outcome=completed", [1, 0]],
        ["cacheHit=true", [1]],
        ["cacheHit=false&provider=groq", []],
        ["status=503", [2]],
        ["status=5xx", [2]],
        ["status=4xx", [4, 3]],
        ["status=failed", [3, 2]],
        ["status=completed", [1, 0]],
        ["status=aborted", [4]],
        ["from=2030-01-01T00:03:00Z", [4, 3]],
        ["to=2030-01-01T00:01:00Z", [0]],
        ["from=2030-01-01T00:01:00%2B00:00&to=2030-01-01T00:03:00Z", [2, 1]],
        ["search=OVERLOADED", [2]],
        ["search=%25)", [2]],
        ["search=100_", []],
        ["search=theirs-4", [4]],
        ["search=429", [3]],
        ["provider=openai&status=failed&search=auto", [3]],
        [`requestId=${rows[2].id.slice(0, 18)}`, [2]],
        ["provider=nobody", []]
      ] as const) {
        for (const path of ["/api/usage/logs", "/api/usage/request-logs"]) {
          const answer = yield* asked(query, path)
          assert.strictEqual(answer.status, 200, `${query} ${answer.text}`)
          assert.deepStrictEqual(numbersOf(answer.text), [...wanted], query)
          assert.isNull(answer.at("nextCursor"), query)
          assert.isNull(answer.at("scannedTo"), query)
        }
      }
      const first = yield* asked("status=failed&limit=1")
      assert.deepStrictEqual(numbersOf(first.text), [3])
      const second = yield* asked(`status=failed&limit=1&cursor=${String(first.at("nextCursor"))}`)
      assert.deepStrictEqual([numbersOf(second.text), second.at("nextCursor")], [[2], null])
    })
  )

  it.effect("can be followed in the order of the ends of requests, each row once", () =>
    Effect.gen(function* () {
      const journal = yield* UsageJournal.UsageJournal
      const start = yield* asked("after=latest")
      assert.deepStrictEqual(numbersOf(start.text), [])
      // The request that came first ended last.
      for (const row of [at(8), at(9, { provider: "groq" }), at(7)]) {
        journal.append(row)
        yield* journal.flush
      }
      const from = String(start.at("nextCursor"))
      const first = yield* asked(`after=${from}&limit=2`)
      assert.deepStrictEqual(numbersOf(first.text), [8, 9])
      const second = yield* asked(`after=${String(first.at("nextCursor"))}&limit=2`)
      assert.deepStrictEqual(numbersOf(second.text), [7])
      const end = yield* asked(`after=${String(second.at("nextCursor"))}`)
      assert.deepStrictEqual([numbersOf(end.text), end.at("nextCursor")], [[], second.at("nextCursor")])
      const filtered = yield* asked(`after=${from}&provider=groq`)
      assert.deepStrictEqual([numbersOf(filtered.text), filtered.at("nextCursor")], [[9], end.at("nextCursor")])
      // A position behind the end is of a log that was emptied since.
      assert.deepStrictEqual(numbersOf((yield* asked("after=w999999&limit=2")).text), [0, 1])
    })
  )

  it.effect("refuses what it does not know, and cursors of others", () =>
    Effect.gen(function* () {
      for (const [query, param, said] of [
        ["provder=groq", "provder", "did you mean 'provider'"],
        ["limit=0", "limit", "limit"],
        ["cursor=nonsense", "cursor", "gave out"],
        ["cursor=' OR 1=1 --", "cursor", "gave out"],
        ["after=nonsense", "after", "gave out"],
        ["status=slow", "status", "5xx"],
        ["status=600", "status", "5xx"],
        ["from=yesterday", "from", "ISO 8601"],
        ["to=", "to", "ISO 8601"],
        ["provider=", "provider", "provider"],
        [`search=${"x".repeat(201)}`, "search", "200"],
        ["status=failed&status=completed", "status", "status"]
      ] as const) {
        const answer = yield* asked(query.replaceAll(" ", "%20"))
        assert.deepStrictEqual([answer.status, answer.at("error.param")], [400, param], `${query} ${answer.text}`)
        assert.include(answer.text, said, query)
      }
    })
  )

  it.effect("is for those who manage the gateway", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const made = yield* app.admin("/api/keys", { method: "POST", body: { name: "inference only" } })
      const headers = { authorization: `Bearer ${String(made.at("secret"))}` }
      for (const path of ["/api/usage/logs", "/api/usage/request-logs"]) {
        assert.strictEqual((yield* app.call(path, { headers })).status, 403)
        assert.strictEqual((yield* app.call(path)).status, 401)
      }
    })
  )
})
