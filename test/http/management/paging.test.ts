/** Every list of the contract is answered in pages when a request asks for it. */
import { assert, it } from "@effect/vitest"
import * as HttpApi from "@effect/platform/HttpApi"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../../src/contract/Api.ts"
import { IsPaged } from "../../../src/contract/Endpoints.ts"
import { adminKey, layerOf, logIn, TestApp } from "./TestApp.ts"

const pagedPaths = (): ReadonlyArray<string> => {
  const paths: Array<string> = []
  HttpApi.reflect(GatewayApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      if (Context.get(endpoint.annotations, IsPaged)) paths.push(endpoint.path)
    }
  })
  return paths
}

/** The member of an answer that holds the list, which is the first one. */
const entriesOf = (text: string): ReadonlyArray<unknown> => {
  const [first] = Object.values(JSON.parse(text) as Record<string, unknown>)
  assert.isArray(first)
  return first as ReadonlyArray<unknown>
}

it.layer(layerOf())("lists", (it) => {
  it.effect("take a size and a cursor, and give every entry once", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const post = (path: string, body: unknown) =>
        Effect.map(app.admin(path, { method: "POST", body }), (answer) => {
          assert.isBelow(answer.status, 300, answer.text)
          return answer
        })
      for (const n of [1, 2, 3]) {
        yield* post("/api/keys", { name: `key ${n}` })
        yield* post("/api/provider-nodes", {
          name: `node ${n}`,
          prefix: `node${n}`,
          type: "openai-compatible",
          baseUrl: "http://127.0.0.1:9/v1"
        })
        const connection = yield* post("/api/providers", { provider: `node${n}`, apiKey: "k", models: ["m"] })
        yield* post("/api/combos", { name: `combo ${n}`, targets: [{ model: `node${n}/m` }] })
        yield* post("/api/models/alias", { alias: `alias${n}`, model: `node${n}/m` })
        yield* post("/api/provider-models", { provider: `node${n}`, modelId: "m" })
        yield* post("/api/quota/groups", {
          name: `group${n}`,
          members: [{ connectionId: connection.at("connection.id"), weight: 1 }]
        })
      }
      const { cookie } = yield* logIn
      const get = (path: string) => app.call(path, { headers: cookie })
      // The models of a connection come from an upstream, and have their own test.
      const paths = pagedPaths().filter((path) => !path.includes(":"))
      assert.isAtLeast(paths.length, 11)
      for (const path of paths) {
        const whole = yield* get(path)
        assert.strictEqual(whole.status, 200, `${path} ${whole.text}`)
        assert.isNull(whole.at("nextCursor"), path)
        const all = entriesOf(whole.text)
        const seen: Array<unknown> = []
        let cursor: unknown = null
        do {
          const page = yield* get(`${path}?limit=2${cursor === null ? "" : `&cursor=${String(cursor)}`}`)
          assert.strictEqual(page.status, 200, `${path} ${page.text}`)
          assert.isAtMost(entriesOf(page.text).length, 2, path)
          seen.push(...entriesOf(page.text))
          cursor = page.at("nextCursor")
          assert.isAtMost(seen.length, all.length, path)
        } while (cursor !== null)
        assert.strictEqual(seen.length, all.length, path)
        for (const [query, field] of [
          ["limit=0", "limit"],
          ["limit=1001", "limit"],
          ["limit=x", "limit"],
          ["limit=1&limit=2", "limit"],
          ["cursor=nonsense", "cursor"]
        ]) {
          const refused = yield* get(`${path}?${query}`)
          assert.deepStrictEqual([refused.status, refused.at("error.param")], [400, field], `${path}?${query}`)
        }
      }
    })
  )

  it.effect("the limit of calls has one name in camel case, and keeps the older one", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const save = (method: string, path: string, body: object) =>
        app.admin(path, { method, body: { provider: "openai", ...body } })
      const made = yield* save("POST", "/api/providers", { apiKey: "sk-x", maxConcurrent: 3 })
      const path = `/api/providers/${String(made.at("connection.id"))}`
      const limits = (answer: typeof made) => [
        answer.at("connection.maxConcurrent"),
        answer.at("connection.max_concurrent")
      ]
      assert.deepStrictEqual(limits(made), [3, 3])
      assert.deepStrictEqual(limits(yield* save("PUT", path, { max_concurrent: 4 })), [4, 4])
      assert.deepStrictEqual(limits(yield* save("PUT", path, { maxConcurrent: 5, max_concurrent: 5 })), [5, 5])
      assert.deepStrictEqual(limits(yield* save("PUT", path, { maxConcurrent: null })), [null, null])
      const unclear = yield* save("PUT", path, { maxConcurrent: 5, max_concurrent: 6 })
      assert.deepStrictEqual([unclear.status, unclear.at("error.param")], [400, "max_concurrent"])
    })
  )

  it.effect("errors of the management name their request", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const headers = { authorization: `Bearer ${adminKey}` }
      for (const [path, call] of [
        ["/api/keys", { method: "POST", headers, body: {} }],
        ["/api/keys", {}],
        ["/api/keys/none", { headers }],
        ["/api/no-such-route", {}],
        ["/api/keys", { method: "PATCH", headers }],
        ["/api/%zz", {}]
      ] as const) {
        const answer = yield* app.call(path, call)
        assert.isAtLeast(answer.status, 400, path)
        assert.strictEqual(answer.at("error.request_id"), answer.headers["x-gateway-request-id"], path)
      }
    })
  )
})
