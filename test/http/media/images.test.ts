/** Pictures over HTTP: OpenAI's form with the official SDK, whole and streamed, and its cost. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const png = Buffer.from("\u0089PNG\r\n\u001a\n----", "latin1").toString("base64")

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const openai = yield* Fake.start
  yield* Effect.promise(() =>
    gateway.manage("POST", "/api/providers", {
      provider: "openai",
      name: "openai",
      apiKey: "k",
      baseUrl: `${openai.origin}/v1`,
      models: ["gpt-image-1", "dall-e-3", "gpt-4o-mini", "text-embedding-3-small"]
    })
  )
  const sdk = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
  const draw = (model: string, more: object = {}) =>
    gateway.post("/v1/images/generations", { model, prompt: "A gate", ...more })
  const rowOf = (response: Response) => gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
  return { gateway, openai, sdk, draw, rowOf }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const event = (value: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`

const partial = event({ type: "image_generation.partial_image", partial_image_index: 0, b64_json: "AAAA" })
const completed = event({
  type: "image_generation.completed",
  b64_json: png,
  size: "1024x1024",
  quality: "high",
  usage: { input_tokens: 10, output_tokens: 4160, total_tokens: 4170 }
})

const streamOf =
  (text: string, cut = false): Fake.Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(text)
    if (cut) setImmediate(() => response.socket?.destroy())
    else response.end()
  }

describe("POST /v1/images/generations", () => {
  scenario("gives the official SDK the upstream's own bytes, with their cost by size and quality", async (room) => {
    const { draw, gateway, openai, rowOf, sdk } = room
    const answer = { created: 5, data: [{ b64_json: png, revised_prompt: "An old gate" }, { b64_json: png }], more: 1 }
    openai.always(Fake.json(answer))
    await gateway.manage("PATCH", "/api/pricing", {
      openai: { "dall-e-3": { perImage: { "1024x1024": 0.04, "1024x1024/hd": 0.08 } } }
    })
    const asked = { prompt: "A gate", n: 2, size: "1024x1024", quality: "hd", background: "auto" } as const
    const images = await sdk.images.generate({ model: "openai/dall-e-3", ...asked })
    assert.deepStrictEqual(images.data, answer.data)
    assert.strictEqual(images.created, 5)
    const [request] = openai.requests
    assert.strictEqual(request?.url, "/v1/images/generations")
    assert.deepStrictEqual(JSON.parse(request?.body ?? ""), { model: "dall-e-3", ...asked })
    const response = await draw("openai/dall-e-3", asked)
    assert.strictEqual(await response.text(), JSON.stringify(answer))
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.1600000000")
    assert.strictEqual(response.headers.get("x-gateway-provider"), "openai")
    assert.deepInclude(await rowOf(response), {
      outcome: "completed",
      costUsd: 0.16,
      priced: true,
      usageSource: "upstream"
    })
    const square = await draw("openai/dall-e-3", { ...asked, quality: "standard" })
    assert.strictEqual(square.headers.get("x-gateway-response-cost"), "0.0800000000")
    const wide = await draw("openai/dall-e-3", { ...asked, size: "1792x1024" })
    await wide.arrayBuffer()
    assert.deepInclude(await rowOf(wide), { costUsd: 0, priced: false })
  })

  scenario("is billed by tokens where the upstream counts them", async ({ draw, gateway, openai, rowOf }) => {
    openai.always(
      Fake.json({ created: 5, data: [{ b64_json: png }], usage: { input_tokens: 100, output_tokens: 1_000 } })
    )
    await gateway.manage("PATCH", "/api/pricing", { openai: { "gpt-image-1": { input: 5, output: 40 } } })
    const response = await draw("openai/gpt-image-1")
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0405000000")
    assert.strictEqual(response.headers.get("x-gateway-tokens-out"), "1000")
    await response.arrayBuffer()
    const row = await rowOf(response)
    assert.deepInclude(row, { costUsd: 0.0405, priced: true })
    assert.deepInclude(row.tokens, { in: 100, out: 1_000 })
  })

  scenario("answers in every spelling, and one provider only where it is named", async ({ gateway, openai }) => {
    openai.always(Fake.json({ created: 5, data: [{ b64_json: png }] }))
    for (const path of ["/images/generations", "/v1/providers/openai/images/generations"]) {
      const response = await gateway.post(path, { model: "dall-e-3", prompt: "A gate" })
      assert.strictEqual(response.status, 200, path)
    }
    const elsewhere = await gateway.post("/v1/providers/stability-ai/images/generations", {
      model: "dall-e-3",
      prompt: "A gate"
    })
    assert.notStrictEqual(elsewhere.status, 200)
  })

  scenario("streams partial pictures as they come, up to the last one", async ({ gateway, openai, sdk }) => {
    await gateway.manage("PATCH", "/api/pricing", { openai: { "gpt-image-1": { input: 5, output: 40 } } })
    const rest = Fake.makeLatch()
    openai.always(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(partial)
      await rest.opened
      response.end(completed)
    })
    const { data: stream, response } = await sdk.images
      .generate({ model: "openai/gpt-image-1", prompt: "A gate", stream: true, partial_images: 1 })
      .withResponse()
    const types: Array<string> = []
    for await (const { b64_json: bytes, type } of stream) {
      types.push(type)
      if (type === "image_generation.partial_image") rest.open()
      else assert.strictEqual(bytes, png)
    }
    assert.deepStrictEqual(types, ["image_generation.partial_image", "image_generation.completed"])
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", streamed: true, costUsd: 0.16645, usageSource: "upstream" })
  })

  for (const [what, text, cut, n] of [
    ["between pictures", partial, false, 1],
    ["in the middle of a picture", partial + completed.slice(0, 60), true, 1],
    ["before the last picture", completed, true, 2],
    ["by an error event", partial + event({ type: "error", error: { message: "no", code: "server_error" } }), false, 1]
  ] as const) {
    scenario(`tells that a stream was cut ${what}`, async ({ gateway, openai, sdk }) => {
      openai.always(streamOf(text, cut))
      const failure = await sdk.images
        .generate({ model: "openai/gpt-image-1", prompt: "A gate", stream: true, n })
        .then(async (stream) => {
          for await (const { type } of stream) assert.match(type, /^image_generation/)
          return null
        })
        .catch((error: unknown) => error)
      assert.instanceOf(failure, OpenAI.APIError)
      const { logs } = await gateway.manage("GET", "/api/usage/logs")
      assert.deepInclude(logs[0], { outcome: "failed" })
    })
  }

  scenario("streams a whole answer of an upstream that has no streams", async ({ openai, sdk }) => {
    openai.always(Fake.json({ created: 5, data: [{ b64_json: png }, { b64_json: png }] }))
    const stream = await sdk.images.generate({ model: "openai/gpt-image-1", prompt: "A gate", stream: true, n: 2 })
    const pictures: Array<string> = []
    for await (const { b64_json: bytes, type } of stream)
      if (type === "image_generation.completed") pictures.push(bytes)
    assert.deepStrictEqual(pictures, [png, png])
  })

  scenario("gives a picture without an address as one, where an address is asked for", async ({ draw, openai }) => {
    openai.always(Fake.json({ created: 5, data: [{ b64_json: png }] }))
    const { data } = JSON.parse(await (await draw("openai/dall-e-3", { response_format: "url" })).text())
    assert.deepStrictEqual(data, [{ url: `data:image/png;base64,${png}` }])
  })

  scenario("passes a refusal of the content on, and holds nothing against the account", async (room) => {
    const { draw, gateway, openai } = room
    const message = "Your request was rejected by the safety system."
    const error = { message, type: "image_generation_user_error", code: "moderation_blocked", param: null }
    openai.always(Fake.json({ error }, { status: 400 }))
    const response = await draw("openai/gpt-image-1")
    assert.strictEqual(response.status, 400)
    const told = JSON.parse(await response.text())
    assert.strictEqual(told.error.message, message)
    const { connections } = await gateway.manage("GET", "/api/providers")
    assert.deepInclude(connections[0], { rateLimitedUntil: null, backoffLevel: 0 })
  })

  scenario("is refused before it is asked where a budget does not cover it", async ({ gateway, openai }) => {
    openai.always(Fake.json({ created: 5, data: [{ b64_json: png }, { b64_json: png }] }))
    await gateway.manage("PATCH", "/api/pricing", { openai: { "dall-e-3": { perImage: 0.04 } } })
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "painter" })
    await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 0.1 })
    const statuses: Array<number> = []
    for (const n of [2, 1]) {
      const body = { model: "openai/dall-e-3", prompt: "A gate", n }
      const response = await gateway.post("/v1/images/generations", body, { authorization: `Bearer ${secret}` })
      statuses.push(response.status)
      await response.arrayBuffer()
    }
    assert.deepStrictEqual(statuses, [200, 429])
    assert.strictEqual(openai.requests.length, 1)
  })

  scenario("refuses what cannot be drawn", async ({ draw, openai }) => {
    for (const wrong of [
      { prompt: "" },
      { prompt: 5 },
      { n: 0 },
      { n: 11 },
      { n: "2" },
      { size: 5 },
      { size: "9".repeat(65) },
      { quality: {} },
      { stream: "yes" },
      { partial_images: 4 },
      { response_format: "png" }
    ]) {
      assert.strictEqual((await draw("openai/dall-e-3", wrong)).status, 400, JSON.stringify(wrong))
    }
    assert.strictEqual(openai.requests.length, 0)
  })

  scenario("goes to the path of a node", async ({ draw, gateway, openai }) => {
    openai.always(Fake.json({ created: 5, data: [{ url: "https://example.com/a.png" }] }))
    const mediaPaths = { images: "/paint" }
    const node = { name: "Studio", prefix: "studio", type: "openai-compatible", baseUrl: openai.origin, mediaPaths }
    await gateway.manage("POST", "/api/provider-nodes", node)
    await gateway.manage("POST", "/api/providers", { provider: "studio", apiKey: "k", models: ["brush"] })
    const response = await draw("studio/brush")
    assert.strictEqual(response.status, 200)
    assert.strictEqual(openai.requests[0]?.url, "/paint")
  })
})

describe("GET /v1/images/generations", () => {
  scenario("lists the models that make pictures", async ({ gateway }) => {
    const { data } = await gateway.manage("GET", "/v1/images/generations")
    const ids = data.map(({ id }: { id: string }) => id)
    assert.deepStrictEqual(ids.sort(), ["openai/dall-e-3", "openai/gpt-image-1"])
  })
})
