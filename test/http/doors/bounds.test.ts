/** Hostile sizes: refused with the limit they exceed, in the caller's own words, before anything is done with them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import Database from "better-sqlite3"
import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  return { gateway, upstream }
})

const said = [{ role: "user", content: "Hi" }]
const withMember = (member: string): string =>
  JSON.stringify({ model: "up/m", messages: said, input: "Hi" }).slice(0, -1) + `,"x":${member}}`
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)
const members = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(",")}}`

const routes = [
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/responses",
  "/v1/completions",
  "/v1/embeddings",
  "/v1beta/models/up%2Fm:generateContent",
  "/api/chat",
  "/v1/providers/up/chat/completions",
  "/v1/messages/count_tokens"
]

describe("request bodies", () => {
  it.scopedLive("deeper than 200 levels or of more than 100,000 keys: 400 with the limit, on every route", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      yield* Effect.promise(async () => {
        for (const path of routes) {
          for (const [body, limit] of [
            [withMember(nested(20_000)), "200 levels"],
            [withMember(nested(250)), "200 levels"],
            [withMember(members(100_001)), "100000 keys"]
          ] as const) {
            const answer = await gateway.post(path, body)
            const text = await answer.text()
            assert.strictEqual(answer.status, 400, `${path} ${text}`)
            assert.include(text, limit, path)
          }
        }
        const served = await gateway.post("/v1/chat/completions", withMember(nested(190)))
        assert.strictEqual(served.status, 200)
      })
    })
  )

  it.scopedLive("of management: the same limits, and a bounded list of what is wrong", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      const authorization = `Bearer ${TestGateway.adminKey}`
      yield* Effect.promise(async () => {
        const send = async (path: string, body: string) => {
          const answer = await gateway.post(path, body, { authorization })
          return { status: answer.status, text: await answer.text() }
        }
        for (const [body, limit] of [
          [`{"name":"k","allowedModels":${nested(20_000)}}`, "200 levels"],
          [`{"name":"k","allowedModels":${members(100_001)}}`, "100000 keys"]
        ] as const) {
          const { status, text } = await send("/api/keys", body)
          assert.strictEqual(status, 400, text)
          assert.include(text, limit)
        }
        const wrong = JSON.stringify({
          name: "c",
          strategy: "priority",
          targets: Array.from({ length: 13_000 }, () => ({}))
        })
        const { status, text } = await send("/api/combos", wrong)
        assert.strictEqual(status, 400)
        const { details } = JSON.parse(text).error
        assert.isAtLeast(details.length, 1)
        assert.isAtMost(details.length, 64)
      })
    })
  )

  it.scopedLive("of management, large: the first wrong field is named and no more are looked for", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      const authorization = `Bearer ${TestGateway.adminKey}`
      const list = (count: number, entry: unknown) => Array.from({ length: count }, () => entry)
      yield* Effect.promise(async () => {
        for (const [path, body, fields] of [
          ["/api/keys", { name: "k", allowedModels: list(10, {}) }, 10],
          ["/api/keys", { name: "k", allowedModels: list(200_000, {}) }, 1],
          [
            "/api/keys",
            { name: "k", allowedModels: Object.fromEntries(list(90_000, 0).map((at, index) => [index, at])) },
            1
          ],
          ["/api/keys", { name: "k", ...Object.fromEntries(list(90_000, 0).map((at, index) => [`f${index}`, at])) }, 1],
          ["/api/combos", { name: "c", strategy: "priority", targets: list(100_000, 1.5) }, 1]
        ] as const) {
          const answer = await gateway.post(path, body, { authorization })
          const text = await answer.text()
          assert.strictEqual(answer.status, 400, text)
          const { details, message, param } = JSON.parse(text).error
          assert.lengthOf(details, fields, text.slice(0, 500))
          assert.isAbove(param.length, 0)
          assert.isBelow(message.length, 1_000)
        }
        const models = list(400, "").map((_, index) => `up/a-model-with-a-long-name-${index}`)
        const kept = await gateway.post("/api/keys", { name: "many", allowedModels: models }, { authorization })
        assert.strictEqual(kept.status, 201)
        assert.deepStrictEqual(JSON.parse(await kept.text()).key.allowedModels, models)
      })
    })
  )

  it.scopedLive("a model name of more than 512 characters is refused and stands in no record", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp
      const before = upstream.requests.length
      const long = "m".repeat(513)
      yield* Effect.promise(async () => {
        for (const path of routes) {
          const at = path.replace("up%2Fm", `up%2F${long}`)
          const answer = await gateway.post(at, {
            contents: [{ role: "user", parts: [{ text: "Hi" }] }],
            model: `up/${long}`,
            messages: said,
            input: "Hi",
            prompt: "Hi",
            max_tokens: 1
          })
          const text = await answer.text()
          assert.strictEqual(answer.status, 400, `${path} ${text}`)
          assert.include(text, "512 characters", path)
        }
        const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=100")
        assert.isFalse(JSON.stringify(logs).includes(long))
      })
      assert.strictEqual(upstream.requests.length, before)
    })
  )

  it.scopedLive("a number of more than 256 characters in X-Gateway-Budget is 400 with the limit", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const body = { model: "auto", messages: said }
        const answer = await gateway.post("/v1/chat/completions", body, { "x-gateway-budget": "1".repeat(15_000) })
        assert.strictEqual(answer.status, 400)
        assert.include(await answer.text(), "256 characters")
      })
    })
  )
})

describe("rows of a time when names had no limit", () => {
  it.scopedLive("are read with what of them can be shown", () =>
    Effect.gen(function* () {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-test-"))
      const gateway = yield* TestGateway.start({ dataDir })
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        const answer = await gateway.post("/v1/chat/completions", { model: "up/m", messages: said })
        await gateway.usageRow(answer.headers.get("x-gateway-request-id") ?? "")
        const file = readdirSync(dataDir).find((name) => name.endsWith(".sqlite"))
        const database = new Database(join(dataDir, file ?? ""))
        database.prepare("UPDATE usage_log SET requested_model = ?").run("m".repeat(1_000_000))
        database.close()
        const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
        assert.strictEqual(logs[0].requestedModel.length, 512)
      })
    })
  )
})
