/** Tags of requests over HTTP: in the log, in the bill, refused where they are none, and at no provider. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { adminKey } from "../../support/TestGateway.ts"
import { type People, setUp, type TestKey } from "./support.ts"

const ask = (people: People, { secret }: TestKey, tags: string, path = "/v1/chat/completions"): Promise<Response> =>
  people.gateway.post(
    path,
    { model: "up/m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
    { authorization: `Bearer ${secret}`, "x-gateway-tags": tags }
  )

interface Log {
  readonly requestId: string
  readonly tags: ReadonlyArray<string>
}

describe("tags of requests", () => {
  it.scopedLive("are in their rows, filter the log, are summed up by, and go to no provider", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const key = await people.key("ci", {})
        for (const tags of ["project=atlas, nightly", "project=atlas", "project=atlas2", "Project=atlas"]) {
          const answer = await ask(people, key, tags)
          assert.strictEqual(answer.status, 200, await answer.text())
        }
        await (await people.chat(key)).arrayBuffer()
        const sent = await Promise.all([1, 2, 3, 4, 5].map((count) => people.upstream.received(count)))
        for (const { headers } of sent) assert.notProperty(headers, "x-gateway-tags")

        const logs = async (query: string, secret = adminKey): Promise<ReadonlyArray<Log>> => {
          const path = secret === adminKey ? "/api/usage/logs" : "/api/usage/me/logs"
          const response = await fetch(`${people.gateway.url}${path}?${query}`, {
            headers: { authorization: `Bearer ${secret}` }
          })
          assert.strictEqual(response.status, 200)
          return ((await response.json()) as { readonly logs: ReadonlyArray<Log> }).logs
        }
        assert.deepStrictEqual((await logs("")).map(({ tags }) => tags).toReversed(), [
          ["nightly", "project=atlas"],
          ["project=atlas"],
          ["project=atlas2"],
          ["Project=atlas"],
          []
        ])
        assert.lengthOf(await logs("tag=project%3Datlas"), 2)
        assert.lengthOf(await logs("tag=nightly"), 1)
        assert.lengthOf(await logs("tag=project"), 0)
        assert.lengthOf(await logs("tag=%25"), 0)
        assert.lengthOf(await logs("tag=project%3Datlas", key.secret), 2)

        const month = new Date().toISOString().slice(0, 7)
        const { body } = await people.gateway
          .manage("GET", `/api/bills?month=${month}&by=tag`)
          .then((answer) => ({ body: answer }))
        const rows = body.rows.map(({ requests, tag }: { tag: string | null; requests: number }) => [tag, requests])
        assert.deepStrictEqual(
          new Map(rows),
          new Map([
            ["project=atlas", 2],
            ["nightly", 1],
            ["project=atlas2", 1],
            ["Project=atlas", 1],
            [null, 1]
          ] as const)
        )
        assert.strictEqual(body.total.requests, 5)
        assert.include(body.inexact.join(" "), "each of its tags")
      })
    })
  )

  it.scopedLive("are refused in the caller's format where they are none, before anything is asked", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const key = await people.key("ci", {})
        for (const [path, shape] of [
          ["/v1/chat/completions", "error"],
          ["/v1/messages", "type"]
        ] as const) {
          const answer = await ask(people, key, "a b", path)
          const text = await answer.text()
          assert.strictEqual(answer.status, 400, text)
          assert.property(JSON.parse(text), shape)
          assert.include(text, "X-Gateway-Tags")
        }
        assert.strictEqual(people.upstream.requests.length, 0)
      })
    })
  )

  it.scopedLive("are what clients say in fields of their own, where a setting says so", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const { gateway } = people
        const chat = async (more: object, tags?: string): Promise<ReadonlyArray<string>> => {
          const headers = {
            authorization: `Bearer ${adminKey}`,
            ...(tags === undefined ? {} : { "x-gateway-tags": tags })
          }
          const messages = [{ role: "user", content: "Hi" }]
          const answer = await gateway.post("/v1/chat/completions", { model: "up/m", messages, ...more }, headers)
          assert.strictEqual(answer.status, 200, await answer.text())
          const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=1")
          return logs[0].tags
        }
        const asked = { user: "ada", metadata: { project: "atlas", note: "two words", user_id: "7" } }
        assert.deepStrictEqual(await chat(asked), [])
        await gateway.manage("PATCH", "/api/settings", { tagsFrom: ["user"] })
        assert.deepStrictEqual(await chat(asked), ["user=ada"])
        assert.deepStrictEqual(await chat({ user: 7, metadata: "x" }, "nightly"), ["nightly", "user=7"])
        await gateway.manage("PATCH", "/api/settings", { tagsFrom: ["metadata"] })
        assert.deepStrictEqual(await chat(asked), ["project=atlas", "user=7"])
        await gateway.manage("PATCH", "/api/settings", { tagsFrom: [] })
        assert.deepStrictEqual(await chat(asked, "nightly"), ["nightly"])
      })
    })
  )
})
