/** `/api/usage/me/series` and `/api/usage/me/logs`: a key sees its own requests, and nothing of accounts and others. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { adminKey } from "../../support/TestGateway.ts"

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "hello" }] })
const sum = (all: ReadonlyArray<number>): number => all.reduce((one, other) => one + other, 0)

it.live("shows a key its own requests only, without accounts and the words of their errors", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const { manage, post } = gateway
        const connection = await gateway.connect("one", upstream, "chat")
        const keyOf = async (name: string) => {
          const { key, secret } = await manage("POST", "/api/keys", { name })
          return { id: String(key.id), headers: { authorization: `Bearer ${secret}` } }
        }
        const laptop = await keyOf("laptop")
        const server = await keyOf("server")
        const own = async (path: string, { headers }: { readonly headers: Record<string, string> }) => {
          const response = await fetch(`${gateway.url}/api/usage/me/${path}`, { headers })
          return { status: response.status, text: await response.text() }
        }
        upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion()))
        for (const key of [laptop, laptop, server]) {
          await (await post("/v1/chat/completions", ask("one/m"), key.headers)).text()
        }
        await (await post("/v1/chat/completions", ask("nothing/there"), laptop.headers)).text()
        await (await post("/v1/chat/completions", ask("one/m"))).text()

        const logs = await own("logs", laptop)
        assert.strictEqual(logs.status, 200, logs.text)
        const page = JSON.parse(logs.text)
        assert.lengthOf(page.logs, 3)
        for (const secret of [
          connection.id,
          laptop.id,
          server.id,
          "connectionName",
          "error",
          "egress",
          "model_not_found"
        ]) {
          assert.notInclude(logs.text, secret)
        }
        assert.deepInclude(page.logs[0], { requestedModel: "nothing/there", status: 404, outcome: "failed" })
        const completed = JSON.parse((await own("logs?outcome=completed&limit=1", laptop)).text)
        assert.lengthOf(completed.logs, 1)
        const next = JSON.parse((await own(`logs?outcome=completed&cursor=${completed.nextCursor}`, laptop)).text)
        assert.deepStrictEqual([next.logs.length, next.nextCursor], [1, null])
        assert.deepStrictEqual(JSON.parse((await own("logs", server)).text).logs.length, 1)

        const series = await own("series?by=model", laptop)
        assert.strictEqual(series.status, 200, series.text)
        const found = JSON.parse(series.text)
        assert.strictEqual(sum(found.total.requests), 3)
        assert.strictEqual(sum(found.total.failed), 1)
        assert.deepStrictEqual(
          found.series.map((each: { key: string; requests: ReadonlyArray<number> }) => [each.key, sum(each.requests)]),
          [
            ["one/m", 2],
            [null, 1]
          ]
        )
        const old = new Date(Date.now() - 72 * 3_600_000).toISOString()
        const until = new Date(Date.now() - 70 * 3_600_000).toISOString()
        const byLog = JSON.parse((await own(`series?from=${old}&to=${until}&step=minute`, laptop)).text)
        assert.deepInclude(byLog, { basis: "log", scannedTo: null })

        for (const query of [
          `series?apiKeyId=${server.id}`,
          `series?connectionId=${connection.id}`,
          "series?by=apiKey",
          "series?by=connection",
          "series?search=x",
          "series?error=x",
          `logs?apiKeyId=${server.id}`,
          `logs?connectionId=${connection.id}`,
          "logs?search=x",
          "logs?error=x",
          "logs?after=latest"
        ]) {
          assert.strictEqual((await own(query, laptop)).status, 400, query)
        }
        const admin = { headers: { authorization: `Bearer ${adminKey}` } }
        for (const path of ["logs", "series"]) {
          assert.strictEqual((await own(path, admin)).status, 404)
          assert.strictEqual((await own(path, { headers: {} })).status, 401)
          assert.strictEqual((await own(path, { headers: { authorization: "Bearer gw_wrong" } })).status, 401)
        }
        const other = await fetch(`${gateway.url}/api/usage/logs`, { headers: laptop.headers })
        assert.strictEqual(other.status, 403)
      })
    })
  )
)
