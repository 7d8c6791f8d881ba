/** The model lists over real HTTP: where facts come from, how flags, keys and changes show, and how they are paged. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
type Answer = any

const claude = "claude-sonnet-4-5"
const alias = `claude-3-gateway-no-thinking/up/${claude}`

const setUp = (environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const upstream = yield* FakeUpstream.start
    const gateway = yield* TestGateway.start({
      envConnections: true,
      environment: new Map(Object.entries(environment))
    })
    const { id } = yield* Effect.promise(() => gateway.connect("up", upstream, "chat", { models: ["m", claude] }))
    const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
      const response = await fetch(gateway.url + path, { headers })
      assert.strictEqual(response.status, 200, path)
      return response.json()
    }
    const declare = (modelId: string, more: object) =>
      gateway.manage("POST", "/api/provider-models", { provider: "up", modelId, ...more })
    const entry = async (id: string): Promise<Answer> => {
      const { data } = await get("/v1/models")
      return data.find((listed: Answer) => listed.id === id)
    }
    const ids = async (path = "/v1/models", headers = {}): Promise<ReadonlyArray<string>> =>
      (await get(path, headers)).data.map((listed: Answer) => listed.id)
    return { upstream, gateway, connectionId: id, get, declare, entry, ids }
  })

const live = (name: string, run: (house: Effect.Effect.Success<ReturnType<typeof setUp>>) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp(), (house) => Effect.promise(() => run(house))))

describe("model lists", () => {
  live("take facts from declarations, then the upstream's list, then the family", async (house) => {
    const { connectionId, declare, entry, gateway, upstream } = house
    assert.deepInclude(await entry(`up/${claude}`), { context_length: 200_000, max_output_tokens: 64_000 })
    assert.notProperty(await entry("up/m"), "context_length")

    upstream.lists(
      FakeUpstream.json({
        object: "list",
        data: [
          { id: "m", context_window: 32_000, architecture: { input_modalities: ["text", "image"] } },
          { id: claude, context_length: 180_000 }
        ]
      })
    )
    await gateway.manage("GET", `/api/providers/${connectionId}/models`)
    assert.deepInclude(await entry("up/m"), {
      context_length: 32_000,
      input_modalities: ["text", "image"],
      capabilities: { vision: true }
    })
    assert.deepInclude(await entry(`up/${claude}`), { context_length: 180_000, max_output_tokens: 64_000 })

    await declare("m", { contextLength: 9_000, capabilities: { vision: false, reasoning: true } })
    assert.deepInclude(await entry("up/m"), {
      context_length: 9_000,
      input_modalities: ["text"],
      capabilities: { vision: false, reasoning: true }
    })
  })

  live("give a combo the least of its members, and follow changes", async ({ declare, entry, gateway }) => {
    await declare("m", { contextLength: 9_000, maxOutputTokens: 100_000 })
    await gateway.combo("inner", "up/m")
    await gateway.combo("outer", `up/${claude}`, "combo:inner")
    assert.deepInclude(await entry("outer"), { context_length: 9_000, max_output_tokens: 64_000 })
    await declare("m", { contextLength: 4_000 })
    assert.strictEqual((await entry("outer")).context_length, 4_000)
  })

  live("offer the no-thinking alias, which a declaration forces on or off", async ({ declare, ids }) => {
    const aliases = async () => (await ids()).filter((id) => id.startsWith("claude-3-gateway-no-thinking/"))
    assert.deepStrictEqual(await aliases(), [alias])
    await declare(claude, { capabilities: { noThinkingAlias: false } })
    assert.deepStrictEqual(await aliases(), [])
    await declare("m", { capabilities: { noThinkingAlias: true } })
    assert.deepStrictEqual(await aliases(), ["claude-3-gateway-no-thinking/up/m"])
  })

  live("show a key what it may use", async ({ gateway, ids, upstream }) => {
    const { secret } = await gateway.manage("POST", "/api/keys", {
      name: "k",
      allowedModels: [`up/${claude}`, "claude-3*"]
    })
    const headers = { authorization: `Bearer ${secret}` }
    assert.deepStrictEqual(await ids("/v1/models", headers), [`up/${claude}`, alias])
    await gateway.connect("second", upstream, "chat", { models: ["x"] })
    assert.deepStrictEqual(await ids("/v1/models", headers), [`up/${claude}`, alias])
    assert.include(await ids(), "second/x")
  })

  live("speak of one model by any of its spellings", async ({ gateway, get }) => {
    for (const id of [`up/${claude}`, claude, `up/${claude}[1m]`, `${claude}:latest`]) {
      assert.strictEqual((await get(`/v1/models/${encodeURIComponent(id)}`)).id, `up/${claude}`, id)
    }
    assert.strictEqual((await get(`/v1beta/models/${claude}`)).name, `models/up/${claude}`)
    const missing = await fetch(`${gateway.url}/v1/models/up/claude-sonet-4-5`)
    assert.strictEqual(missing.status, 404)
    assert.include(await missing.text(), `up/${claude}`)
  })

  live("tell Google's and Ollama's clients the same", async ({ gateway, get }) => {
    const { models } = await get("/v1beta/models")
    const told = models.find((model: Answer) => model.name === `models/up/${claude}`)
    assert.deepInclude(told, { inputTokenLimit: 200_000, outputTokenLimit: 64_000, thinking: true })
    const shown = await (await gateway.post("/api/show", { model: claude })).json()
    assert.deepStrictEqual((shown as Answer).capabilities, ["completion", "tools", "vision", "thinking"])
    assert.strictEqual((shown as Answer).model_info["up.context_length"], 200_000)
    const plain = await (await gateway.post("/api/show", { model: "up/m" })).json()
    assert.deepStrictEqual((plain as Answer).capabilities, ["completion", "tools"])
  })

  live("are paged as each pager asks", async ({ gateway, get, ids }) => {
    const all = await ids()
    const first = await get("/v1/models?limit=2")
    assert.deepInclude(first, { has_more: true, first_id: all[0], last_id: all[1] })
    const rest = await get(`/v1/models?after_id=${encodeURIComponent(first.last_id)}`)
    assert.isFalse(rest.has_more)
    assert.deepStrictEqual(
      [...first.data, ...rest.data].map((listed: Answer): string => listed.id),
      [...all]
    )
    const google = await get("/v1beta/models?pageSize=2")
    const next = await get(`/v1beta/models?pageSize=100&pageToken=${google.nextPageToken}`)
    assert.strictEqual(google.models.length + next.models.length, all.length)
    assert.notProperty(next, "nextPageToken")
    const wrong = await fetch(`${gateway.url}/v1beta/models?pageSize=x`)
    assert.strictEqual(wrong.status, 400)
    assert.strictEqual(((await wrong.json()) as Answer).error.status, "INVALID_ARGUMENT")
    assert.strictEqual((await fetch(`${gateway.url}/v1/models?limit=x`)).status, 400)
  })

  it.scopedLive("follow the flags", () =>
    Effect.flatMap(
      setUp({ MODEL_CATALOG_INCLUDE_NAMES: "false", GEMINI_API_KEY: "k", MODELS_CATALOG_PREFIX_MODE: "dual" }),
      (house) =>
        Effect.promise(async () => {
          await house.declare("m", { name: "My model" })
          const listed = await house.entry("up/m")
          assert.notProperty(listed, "name")
          assert.strictEqual(listed.display_name, "up/m")
          const prefixes = (await house.ids()).filter((id) => id.endsWith("/gemini-2.5-pro"))
          assert.deepStrictEqual(prefixes, ["gemini/gemini-2.5-pro", "google/gemini-2.5-pro"])
        })
    )
  )

  live("stand beside the provider manifest, which tells nothing of accounts", async ({ get }) => {
    const manifest = await get("/api/v1/provider-plugin-manifest")
    assert.include(
      manifest.providers.map((provider: Answer) => provider.id),
      "openai"
    )
    assert.notInclude(JSON.stringify(manifest), "upstream-key-of-up")
    assert.notInclude(JSON.stringify(manifest), '"id":"up"')
  })
})
