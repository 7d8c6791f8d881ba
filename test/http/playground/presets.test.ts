/** Presets of the playground over HTTP: what is kept, what is refused, and what becomes of it when the gateway ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { scenario } from "./support.ts"

const presets = "/api/playground/presets"
const short = { name: "Short", endpoint: "chat", model: "up/m" }

describe("presets", () => {
  scenario("are made, listed, shown, changed in part and removed", async ({ send }) => {
    assert.deepEqual((await send("GET", presets)).body, { presets: [] })
    const made = await send("POST", presets, {
      ...short,
      system: "Be short.",
      params_json: '{"temperature":0.2,"stop":["END"]}'
    })
    assert.strictEqual(made.status, 201)
    const { preset } = made.body
    assert.deepEqual(Object.keys(preset), ["id", "name", "endpoint", "model", "system", "params_json", "created_at"])
    assert.strictEqual(preset.params_json, '{"temperature":0.2,"stop":["END"]}')
    assert.strictEqual(new Date(preset.created_at).toISOString(), preset.created_at)
    assert.deepEqual((await send("GET", presets)).body, { presets: [preset] })
    assert.deepEqual((await send("GET", `${presets}/${preset.id}`)).body, { preset })

    const changed = await send("PUT", `${presets}/${preset.id}`, { name: "Shorter", system: null })
    assert.deepEqual(changed.body, { preset: { ...preset, name: "Shorter", system: null } })
    assert.deepEqual((await send("GET", `${presets}/${preset.id}`)).body, changed.body)

    assert.strictEqual((await send("DELETE", `${presets}/${preset.id}`)).status, 204)
    assert.deepEqual((await send("GET", presets)).body, { presets: [] })
  })

  scenario("have every one of the ten endpoints, and no other", async ({ send }) => {
    const endpoints = "chat completions embeddings images audio speech transcriptions moderations rerank search".split(
      " "
    )
    for (const endpoint of endpoints) {
      const { body, status } = await send("POST", presets, { ...short, endpoint })
      assert.strictEqual(status, 201, endpoint)
      assert.deepInclude(body.preset, { endpoint, system: null, params_json: "{}" })
    }
    const { body, status } = await send("POST", presets, { ...short, endpoint: "music" })
    assert.deepEqual([status, body.error.param], [400, "endpoint"])
  })

  scenario("that do not exist are 404, whatever is asked of them", async ({ send }) => {
    for (const [method, body] of [["GET"], ["PUT", { name: "x" }], ["DELETE"]] as const) {
      assert.strictEqual((await send(method, `${presets}/nothing`, body)).status, 404, method)
    }
  })

  scenario("are refused with the field that is wrong, and nothing of them is kept", async ({ send }) => {
    const wrong: ReadonlyArray<readonly [string, object]> = [
      ["name", { ...short, name: " " }],
      ["name", { endpoint: "chat", model: "m" }],
      ["model", { ...short, model: "" }],
      ["model", { ...short, model: "m".repeat(301) }],
      ["system", { ...short, system: 7 }],
      ["system", { ...short, system: "x".repeat(100_001) }],
      ["params_json", { ...short, params_json: "temperature=1" }],
      ["params_json", { ...short, params_json: "[]" }],
      ["params_json", { ...short, params_json: "null" }],
      ["params_json", { ...short, params_json: { temperature: 1 } }],
      ["params_json", { ...short, params_json: '{"temperature":"hot"}' }],
      ["params_json", { ...short, params_json: '{"temperature":3}' }],
      ["params_json", { ...short, params_json: '{"top_k":3}' }],
      ["params_json", { ...short, params_json: '{"__proto__":{}}' }],
      ["params_json", { ...short, params_json: '{"seed":1.5}' }],
      ["params_json", { ...short, params_json: `{"stop":"${"x".repeat(9_000)}"}` }],
      ["owner", { ...short, owner: "me" }]
    ]
    for (const [field, body] of wrong) {
      const answer = await send("POST", presets, body)
      assert.deepEqual([answer.status, answer.body.error.param], [400, field], JSON.stringify(body).slice(0, 100))
    }
    assert.deepEqual((await send("GET", presets)).body, { presets: [] })
    const { preset } = (await send("POST", presets, short)).body
    const said = async (params_json: string): Promise<string> =>
      (await send("POST", presets, { ...short, params_json })).body.error.details[0].message
    assert.strictEqual(
      await said('{"temperature":3}'),
      "is wrong at 'temperature': it must be a number between 0 and 2"
    )
    // What was given is not repeated.
    for (const stop of [[], [1], "", "x".repeat(501)]) {
      assert.match(
        await said(JSON.stringify({ stop })),
        /^is wrong at 'stop[^']*': it must be (?:a )?string[^[\]]{0,120}$/
      )
    }
    const change = await send("PUT", `${presets}/${preset.id}`, { params_json: "no" })
    assert.deepEqual([change.status, change.body.error.param], [400, "params_json"])
    assert.deepEqual((await send("GET", presets)).body, { presets: [preset] })
  })

  scenario("are at most 500", async ({ send }) => {
    for (let at = 0; at < 500; at += 50) {
      const made = await Promise.all(Array.from({ length: 50 }, () => send("POST", presets, short)))
      assert.isTrue(made.every(({ status }) => status === 201))
    }
    const { body, status } = await send("POST", presets, short)
    assert.deepEqual([status, body.error.code], [409, "too_many_presets"])
  })

  scenario("of one key are a hundred at most, and are changed by nobody but it and who manages", async (room) => {
    const { gateway, send } = room
    const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
    const keyOf = async (name: string) => bearer((await gateway.manage("POST", "/api/keys", { name })).secret)
    const [one, other] = [await keyOf("one"), await keyOf("other")]
    const own = (await send("POST", presets, short, other)).body.preset
    for (let at = 0; at < 100; at += 50) {
      await Promise.all(Array.from({ length: 50 }, () => send("POST", presets, short, one)))
    }
    const full = await send("POST", presets, short, one)
    assert.deepEqual([full.status, full.body.error.code], [409, "too_many_presets"])
    // It fills nobody else's room, and empties it neither.
    assert.strictEqual((await send("POST", presets, short, other)).status, 201)
    assert.strictEqual((await send("POST", presets, short)).status, 201)
    const path = `${presets}/${own.id}`
    for (const headers of [one, {}]) {
      for (const [method, body] of [["PUT", { name: "mine" }], ["DELETE"]] as const) {
        const refused = await send(method, path, body, headers)
        assert.deepEqual([refused.status, refused.body.error.code], [403, "preset_of_other"])
      }
      assert.deepEqual((await send("GET", path, undefined, headers)).body, { preset: own })
    }
    assert.strictEqual((await send("PUT", path, { name: "own" }, other)).status, 200)
    assert.strictEqual((await send("DELETE", path, undefined, bearer(TestGateway.adminKey))).status, 204)
  })

  it.scopedLive("are there after a restart", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const made = yield* Effect.scoped(
        Effect.flatMap(TestGateway.start({ dataDir }), ({ manage }) =>
          Effect.promise(() => manage("POST", presets, short))
        )
      )
      const { manage } = yield* TestGateway.start({ dataDir })
      const listed = yield* Effect.promise(() => manage("GET", presets))
      assert.deepEqual(listed, { presets: [made.preset] })
    })
  )
})
