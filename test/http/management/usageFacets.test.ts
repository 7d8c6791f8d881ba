/** Rows of the log with their names, sessions and records, and the values they can be filtered by. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { adminKey } from "../../support/TestGateway.ts"

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "hello" }] })

it.live("names keys and connections after they are deleted, and lists what rows can be filtered by", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const { manage, post } = gateway
        upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion()))
        const connection = await gateway.connect("one", upstream, "chat")
        const { key, secret } = await manage("POST", "/api/keys", { name: "laptop" })
        const withKey = { authorization: `Bearer ${secret}` }
        const secretLike = "sk-abcdefghijklmnopqrstuvwxyz"
        for (const session of ["session-7", "session-7", secretLike]) {
          const answer = await post("/v1/chat/completions", ask("one/m"), { ...withKey, "x-session-id": session })
          assert.strictEqual(answer.status, 200, await answer.text())
        }
        await (await post("/v1/chat/completions", ask("nothing/there"))).text()

        const found = await manage("GET", "/api/usage/logs?sessionId=session-7")
        assert.lengthOf(found.logs, 2)
        for (const row of found.logs) {
          assert.deepInclude(row, {
            sessionId: "session-7",
            apiKeyId: key.id,
            apiKeyName: "laptop",
            connectionName: "one",
            hasDecision: true,
            captureId: null
          })
        }
        const hashed = await manage("GET", `/api/usage/logs?sessionId=${secretLike}`)
        assert.lengthOf(hashed.logs, 1)
        assert.match(hashed.logs[0].sessionId, /^sha256:[\da-f]{32}$/)
        const again = await manage("GET", `/api/usage/logs?sessionId=${hashed.logs[0].sessionId}`)
        assert.deepStrictEqual(again, hashed)
        const none = await manage("GET", "/api/usage/logs?apiKeyId=none&minLatencyMs=1")
        assert.deepStrictEqual(none, { logs: [], nextCursor: null, scannedTo: null })
        const page = await manage("GET", "/api/usage/logs?limit=1")
        assert.strictEqual(page.scannedTo, page.logs[0].timestamp)

        const { facets, rows, scannedTo } = await manage("GET", "/api/usage/logs/facets")
        assert.deepStrictEqual([rows, scannedTo], [4, null])
        assert.deepStrictEqual(facets.provider, [{ value: "one", name: null, count: 3 }])
        assert.deepStrictEqual(facets.model, [{ value: "one/m", name: null, count: 3 }])
        assert.deepStrictEqual(facets.apiKeyId, [{ value: key.id, name: "laptop", count: 3 }])
        assert.deepStrictEqual(facets.connectionId, [{ value: connection.id, name: "one", count: 3 }])
        assert.deepStrictEqual(facets.outcome, [
          { value: "completed", name: null, count: 3 },
          { value: "failed", name: null, count: 1 }
        ])
        assert.deepStrictEqual(facets.sessionId[0], { value: "session-7", name: null, count: 2 })
        const failed = await manage("GET", "/api/usage/logs/facets?status=4xx&most=1")
        assert.deepStrictEqual([failed.rows, failed.facets.provider], [1, []])
        assert.deepStrictEqual(failed.facets.status, [{ value: "404", name: null, count: 1 }])
        for (const [query, field] of [
          ["most=0", "most"],
          ["limit=1", "limit"],
          ["minLatencyMs=-1", "minLatencyMs"],
          ["minCostUsd=much", "minCostUsd"],
          ["cacheHit=1", "cacheHit"],
          ["outcome=lost", "outcome"]
        ] as const) {
          const response = await fetch(`${gateway.url}/api/usage/logs/facets?${query}`, {
            headers: { authorization: `Bearer ${adminKey}` }
          })
          assert.strictEqual(response.status, 400, query)
          const { error } = (await response.json()) as { readonly error: { readonly param: string } }
          assert.strictEqual(error.param, field)
        }

        await manage("DELETE", `/api/keys/${key.id}`)
        await manage("DELETE", `/api/providers/${connection.id}`)
        const after = await manage("GET", "/api/usage/logs?sessionId=session-7")
        assert.deepInclude(after.logs[0], { apiKeyName: "laptop", connectionName: "one" })
        const series = await manage("GET", "/api/usage/series?by=apiKey")
        assert.deepInclude(series.series[0], { key: key.id, name: "laptop" })
      })
    })
  )
)
