/** `/api/memory` over real HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerOf, TestApp } from "./TestApp.ts"

const path = "/api/memory"
const call = (method: string, at: string, body?: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(at, { method, ...(body === undefined ? {} : { body }) }))

layer(layerOf(), { excludeTestServices: true })("the memory", (it) => {
  it.effect("is added to, read, searched, changed and removed, by API key", () =>
    Effect.gen(function* () {
      const key = yield* call("POST", "/api/keys", { name: "laptop" })
      const apiKeyId = String(key.at("key.id"))
      const content = "I write my tests in Helix."
      const made = yield* call("POST", path, { apiKeyId, type: "procedural", key: "editor", content, sessionId: "s1" })
      assert.strictEqual(made.status, 201, made.text)
      const id = String(made.at("memory.id"))
      assert.deepInclude(JSON.parse(made.text).memory, {
        apiKeyId,
        type: "procedural",
        source: "added",
        key: "editor",
        content,
        sessionId: "s1"
      })
      const other = yield* call("POST", path, { content: "The office has a helix of stairs." })
      assert.strictEqual(other.at("memory.apiKeyId"), null)
      assert.strictEqual(other.at("memory.type"), "factual")
      assert.match(String(other.at("memory.key")), /^note:office-helix-stairs-[0-9a-f]{8}$/)

      const all = yield* call("GET", path)
      assert.deepStrictEqual(
        JSON.parse(all.text).memories.map((each: { id: string }) => each.id),
        [other.at("memory.id"), id]
      )
      const ids = (query: string) =>
        Effect.map(call("GET", `${path}?${query}`), ({ text }) =>
          JSON.parse(text).memories.map((each: { id: string }) => each.id)
        )
      assert.deepStrictEqual(yield* ids(`apiKeyId=${apiKeyId}`), [id])
      assert.deepStrictEqual(yield* ids("apiKeyId=none"), [other.at("memory.id")])
      assert.deepStrictEqual(yield* ids(`apiKeyId=${apiKeyId}&q=which+HELIX+test`), [id])
      assert.strictEqual((yield* ids("q=helix")).length, 2)
      assert.deepStrictEqual(yield* ids("q=nowhere"), [])
      assert.deepStrictEqual(yield* ids("type=semantic"), [])
      const page = yield* call("GET", `${path}?limit=1`)
      assert.strictEqual(JSON.parse(page.text).memories.length, 1)
      assert.deepStrictEqual(yield* ids(`limit=1&cursor=${page.at("nextCursor")}`), [id])

      assert.strictEqual((yield* call("GET", `${path}/${id}`)).at("memory.content"), content)
      const changed = yield* call("PATCH", `${path}/${id}`, { content: "I write in Kakoune." })
      assert.strictEqual(changed.at("memory.content"), "I write in Kakoune.")
      assert.strictEqual(changed.at("memory.key"), "editor")
      assert.deepStrictEqual(yield* ids(`apiKeyId=${apiKeyId}&q=helix`), [])
      const put = yield* call("PUT", `${path}/${id}`, JSON.parse(changed.text).memory)
      assert.strictEqual(put.status, 200, put.text)
      const second = yield* call("POST", path, { apiKeyId, type: "procedural", key: "shell", content: "I use fish." })
      const taken = yield* call("PATCH", `${path}/${second.at("memory.id")}`, { key: "editor" })
      assert.strictEqual(taken.status, 409)
      assert.strictEqual(taken.at("error.param"), "key")

      const preview = yield* call("POST", `${path}/retrieve-preview`, { apiKeyId, query: "What shell do I use?" })
      assert.strictEqual(preview.status, 200, preview.text)
      assert.include(String(preview.at("block")), "Memory context:")
      assert.include(String(preview.at("block")), "fish")
      assert.isAbove(Number(preview.at("tokens")), 10)

      const health = yield* call("GET", `${path}/health`)
      assert.deepInclude(JSON.parse(health.text), { ok: true, entries: 3, indexed: 3, engine: "fts5", vectors: false })
      assert.strictEqual((yield* call("POST", `${path}/reindex`)).at("indexed"), 3)
      assert.deepStrictEqual(yield* ids("q=kakoune"), [id])

      assert.strictEqual((yield* call("DELETE", `${path}/${id}`)).status, 204)
      assert.strictEqual((yield* call("GET", `${path}/${id}`)).status, 404)
      assert.strictEqual((yield* call("DELETE", `${path}/${id}`)).status, 404)
      yield* call("DELETE", `/api/keys/${apiKeyId}`)
      assert.deepStrictEqual(yield* ids(""), [other.at("memory.id")])
    })
  )

  it.effect("refuses what is wrong with the name of the field", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [unknown, string]> = [
        [{ apiKeyId: "gone", content: "x" }, "apiKeyId"],
        [{ content: "" }, "content"],
        [{ content: "x".repeat(8_193) }, "content"],
        [{ content: "x", type: "rumour" }, "type"],
        [{ content: "x", tags: [] }, "tags"],
        [{}, "content"]
      ]
      for (const [body, field] of wrong) {
        const refused = yield* call("POST", path, body)
        assert.strictEqual(refused.status, 400, refused.text)
        assert.strictEqual(refused.at("error.param"), field)
      }
      const app = yield* TestApp
      assert.strictEqual((yield* app.call(path)).status, 401)
    })
  )

  it.effect("has its settings in two places, which are the same", () =>
    Effect.gen(function* () {
      const at = "/api/settings/memory"
      const usual = {
        enabled: false,
        maxTokens: 2000,
        retentionDays: 30,
        strategy: "exact",
        model: null,
        minSimilarity: 0.4
      }
      assert.deepStrictEqual(JSON.parse((yield* call("GET", at)).text), usual)
      const changed = yield* call("PUT", at, { enabled: true })
      assert.deepStrictEqual(JSON.parse(changed.text), { ...usual, enabled: true })
      const whole = yield* call("PATCH", "/api/settings", { memory: { maxTokens: 100 }, promptCache: "auto" })
      assert.deepStrictEqual(JSON.parse(whole.text).memory, { ...usual, enabled: true, maxTokens: 100 })
      assert.strictEqual(whole.at("promptCache"), "auto")
      for (const body of [{ strategy: "nearest" }, { maxTokens: 1 }, { retentionDays: 0 }, { enabled: "yes" }]) {
        const refused = yield* call("PUT", at, body)
        assert.strictEqual(refused.status, 400)
        assert.strictEqual(refused.at("error.param"), Object.keys(body)[0])
      }
      yield* call("PATCH", "/api/settings", { memory: usual, promptCache: "off" })
    })
  )
})
