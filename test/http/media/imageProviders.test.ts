/** Pictures of providers with forms of their own, for clients of OpenAI's form. */
import { assert, describe, it } from "@effect/vitest"
import { GoogleGenAI } from "@google/genai"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const bytes = Buffer.from("\u0089PNG\r\n\u001a\n----", "latin1")
const png = bytes.toString("base64")

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const openai = yield* Fake.start
  const stability = yield* Fake.start
  const gemini = yield* Fake.start
  const webui = yield* Fake.start
  const connect = (provider: string, baseUrl: string, models: ReadonlyArray<string>) =>
    Effect.promise(() =>
      gateway.manage("POST", "/api/providers", { provider, name: provider, apiKey: "k", baseUrl, models })
    )
  yield* connect("openai", `${openai.origin}/v1`, ["dall-e-3"])
  yield* connect("stability-ai", stability.origin, ["stable-image-core"])
  yield* connect("gemini", `${gemini.origin}/v1beta`, ["gemini-2.5-flash-image", "imagen-4.0-generate-001"])
  yield* connect("sdwebui", webui.origin, ["default"])
  const sdk = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
  const draw = (model: string, more: object = {}) =>
    gateway.post("/v1/images/generations", { model, prompt: "A gate", ...more })
  const combo = (...models: ReadonlyArray<string>) =>
    gateway.manage("POST", "/api/combos", {
      name: "painters",
      strategy: "priority",
      targets: models.map((model) => ({ model }))
    })
  const rowOf = (response: Response) => gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
  return { gateway, openai, stability, gemini, webui, sdk, draw, combo, rowOf }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const geminiPicture = Fake.json({
  candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data: png } }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290 }
})

describe("pictures of other providers", () => {
  scenario("Gemini answers the official SDK, one request per picture", async ({ gateway, gemini, sdk }) => {
    gemini.always(geminiPicture)
    await gateway.manage("PATCH", "/api/pricing", { gemini: { "gemini-2.5-flash-image": { input: 0, output: 30 } } })
    const { data: images, response } = await sdk.images
      .generate({ model: "gemini/gemini-2.5-flash-image", prompt: "A gate", n: 2, size: "1024x1024" })
      .withResponse()
    assert.deepStrictEqual(images.data, [{ b64_json: png }, { b64_json: png }])
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0774000000")
    const paths = gemini.requests.map(({ url }) => url)
    const path = "/v1beta/models/gemini-2.5-flash-image:generateContent"
    assert.deepStrictEqual(paths, [path, path])
    assert.strictEqual(gemini.requests[0]?.headers["x-goog-api-key"], "k")
  })

  scenario("Gemini answers Google's own SDK, whole and streamed", async ({ gateway, gemini }) => {
    gemini.always(geminiPicture)
    const google = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: gateway.url } })
    const asked = {
      model: "gemini/gemini-2.5-flash-image",
      contents: "A gate",
      config: { responseModalities: ["IMAGE"] }
    }
    const answer = await google.models.generateContent(asked)
    assert.strictEqual(answer.data, png)
    assert.deepStrictEqual(JSON.parse(gemini.requests[0]?.body ?? "").generationConfig, {
      responseModalities: ["IMAGE"]
    })
    gemini.always((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const parts = [{ inlineData: { mimeType: "image/png", data: png } }]
      const event = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] }
      response.end(`data: ${JSON.stringify(event)}\n\n`)
    })
    const pictures: Array<string | undefined> = []
    for await (const chunk of await google.models.generateContentStream(asked)) pictures.push(chunk.data)
    assert.deepStrictEqual(pictures, [png])
  })

  scenario("Imagen is asked to predict", async ({ draw, gemini, gateway }) => {
    gemini.always(Fake.json({ predictions: [{ bytesBase64Encoded: png, mimeType: "image/png" }] }))
    await gateway.manage("PATCH", "/api/pricing", { gemini: { "imagen-4.0-generate-001": { perImage: 0.04 } } })
    const response = await draw("gemini/imagen-4.0-generate-001")
    assert.strictEqual(response.status, 200)
    assert.strictEqual(gemini.requests[0]?.url, "/v1beta/models/imagen-4.0-generate-001:predict")
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0400000000")
  })

  scenario("Stability is sent a form, once for each picture", async ({ draw, gateway, rowOf, stability }) => {
    stability.always(Fake.json({ image: png, finish_reason: "SUCCESS", seed: 1 }))
    await gateway.manage("PATCH", "/api/pricing", { "stability-ai": { "stable-image-core": { perImage: 0.03 } } })
    const response = await draw("stability-ai/stable-image-core", { n: 2, size: "1024x1024", quality: "high" })
    assert.strictEqual(JSON.parse(await response.text()).data.length, 2)
    assert.strictEqual(response.headers.get("x-gateway-dropped"), "quality")
    const [request] = stability.requests
    assert.strictEqual(request?.url, "/v2beta/stable-image/generate/core")
    assert.strictEqual(request?.headers.accept, "application/json")
    const form = await new Response(request?.body, {
      headers: { "content-type": request?.headers["content-type"] ?? "" }
    }).formData()
    assert.deepStrictEqual(Object.fromEntries(form), { prompt: "A gate", aspect_ratio: "1:1" })
    assert.deepInclude(await rowOf(response), { outcome: "completed", costUsd: 0.06, priced: true })
  })

  scenario("SD web UI needs no key and no version in its address", async ({ draw, webui }) => {
    webui.always(Fake.json({ images: [png], parameters: {}, info: "{}" }))
    const response = await draw("sdwebui/default")
    assert.deepStrictEqual(JSON.parse(await response.text()).data, [{ b64_json: png }])
    assert.strictEqual(webui.requests[0]?.url, "/sdapi/v1/txt2img")
  })

  scenario("come as a stream where one is asked for", async ({ sdk, stability }) => {
    stability.always(Fake.json({ image: png, finish_reason: "SUCCESS", seed: 1 }))
    const model = "stability-ai/stable-image-core"
    const stream = await sdk.images.generate({ model, prompt: "A gate", stream: true, n: 2 })
    const seen: Array<string> = []
    for await (const event of stream) seen.push(`${event.type} ${event.b64_json}`)
    assert.deepStrictEqual(seen, [`image_generation.completed ${png}`, `image_generation.completed ${png}`])
  })

  for (const type of ["anthropic-compatible", "gemini-compatible", "ollama-compatible"]) {
    scenario(`a node of type ${type} serves pictures at a path of OpenAI's form`, async ({ draw, gateway, openai }) => {
      openai.always(Fake.json({ created: 1, data: [{ b64_json: png }] }))
      const mediaPaths = { images: "/v1/images/generations" }
      const node = { name: "Studio", prefix: "studio", type, baseUrl: openai.origin, mediaPaths }
      await gateway.manage("POST", "/api/provider-nodes", node)
      await gateway.manage("POST", "/api/providers", { provider: "studio", apiKey: "k", models: ["brush"] })
      const response = await draw("studio/brush")
      assert.deepStrictEqual(JSON.parse(await response.text()).data, [{ b64_json: png }])
      assert.strictEqual(openai.requests[0]?.url, "/v1/images/generations")
    })
  }

  scenario(
    "are chosen by auto, which asks no model that talks",
    async ({ draw, gateway, gemini, openai, stability, webui }) => {
      for (const fake of [openai, gemini, stability, webui]) fake.always(Fake.json({ error: "none" }, { status: 500 }))
      stability.always(Fake.json({ image: png, finish_reason: "SUCCESS" }))
      const talker = {
        provider: "groq",
        name: "groq",
        apiKey: "k",
        baseUrl: `${openai.origin}/v1`,
        models: ["llama-3.3-70b"]
      }
      await gateway.manage("POST", "/api/providers", talker)
      const response = await draw("auto")
      assert.strictEqual(response.headers.get("x-gateway-provider"), "stability-ai")
      const { decision } = await gateway.manage(
        "GET",
        `/api/routing/decisions/${response.headers.get("x-gateway-request-id")}`
      )
      const providers = decision.candidates.map(({ provider }: { provider: string }) => provider)
      assert.deepStrictEqual(providers.sort(), ["gemini", "openai", "sdwebui", "stability-ai"])
    }
  )

  scenario("do not hold conversations", async ({ gateway, stability }) => {
    const messages = [{ role: "user", content: "Hi" }]
    const response = await gateway.post("/v1/chat/completions", { model: "stability-ai/stable-image-core", messages })
    assert.strictEqual(response.status, 400)
    assert.strictEqual(stability.requests.length, 0)
  })
})

describe("fallback between providers of different forms", () => {
  for (const [what, failing] of [
    ["an error status", Fake.json({ error: { message: "busy" } }, { status: 503 })],
    ["a limit", Fake.json({ error: { message: "slow down" } }, { status: 429 })],
    ["an answer without a picture", Fake.json({ created: 1, data: [] })]
  ] as const) {
    scenario(`OpenAI's form to Stability's after ${what}`, async ({ combo, draw, openai, stability }) => {
      await combo("openai/dall-e-3", "stability-ai/stable-image-core")
      openai.always(failing)
      stability.always(Fake.json({ image: png, finish_reason: "SUCCESS" }))
      const response = await draw("painters")
      assert.deepStrictEqual(JSON.parse(await response.text()).data, [{ b64_json: png }])
      assert.strictEqual(response.headers.get("x-gateway-provider"), "stability-ai")
      assert.strictEqual(response.headers.get("x-gateway-fallback-attempts"), "1")
    })
  }

  scenario("Gemini's to OpenAI's, with the client's own bytes", async ({ combo, draw, gemini, openai }) => {
    await combo("gemini/gemini-2.5-flash-image", "openai/dall-e-3")
    gemini.always(Fake.json({ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }, { status: 503 }))
    openai.always(Fake.json({ created: 1, data: [{ b64_json: png }] }))
    const response = await draw("painters", { style: "vivid" })
    assert.strictEqual(response.status, 200)
    assert.deepStrictEqual(JSON.parse(openai.requests[0]?.body ?? ""), {
      model: "dall-e-3",
      prompt: "A gate",
      style: "vivid"
    })
  })

  scenario("a picture that a content filter keeps back is the client's error", async ({ draw, gateway, stability }) => {
    stability.always(Fake.json({ image: png, finish_reason: "CONTENT_FILTERED" }))
    const response = await draw("stability-ai/stable-image-core")
    assert.strictEqual(response.status, 400)
    const { error } = JSON.parse(await response.text())
    assert.strictEqual(error.code, "content_policy_violation")
    const { connections } = await gateway.manage("GET", "/api/providers")
    for (const connection of connections) assert.deepInclude(connection, { rateLimitedUntil: null, backoffLevel: 0 })
    const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
    for (const breaker of breakers) assert.strictEqual(breaker.failures, 0)
  })
})

describe("addresses of pictures", () => {
  const named = (url: string) => Fake.json({ created: 1, data: [{ url, revised_prompt: "An old gate" }] })

  /** The provider's own server also holds the picture. */
  const withPicture =
    (url: () => string, picture: Fake.Answer): Fake.Answer =>
    (response, request) =>
      request.method === "GET" ? picture(response, request) : named(url())(response, request)

  const pictureAnswer: Fake.Answer = (response) =>
    void response.writeHead(200, { "content-type": "image/png" }).end(bytes)

  scenario("are fetched from the provider itself with its credential", async ({ draw, openai }) => {
    openai.always(withPicture(() => `${openai.origin}/files/a.png?sig=1`, pictureAnswer))
    const response = await draw("openai/dall-e-3", { response_format: "b64_json" })
    assert.deepStrictEqual(JSON.parse(await response.text()).data, [{ b64_json: png, revised_prompt: "An old gate" }])
    const [, fetched] = openai.requests
    assert.strictEqual(fetched?.url, "/files/a.png?sig=1")
    assert.strictEqual(fetched?.headers.authorization, "Bearer k")
    const whole = await draw("openai/dall-e-3")
    assert.strictEqual(JSON.parse(await whole.text()).data[0].url, `${openai.origin}/files/a.png?sig=1`)
  })

  scenario("of another server of this machine are not fetched, and the next target is asked", async (room) => {
    const { combo, draw, openai, stability, webui } = room
    await combo("openai/dall-e-3", "stability-ai/stable-image-core")
    openai.always(named(`${webui.origin}/a.png`))
    stability.always(Fake.json({ image: png, finish_reason: "SUCCESS" }))
    const response = await draw("painters", { response_format: "b64_json" })
    assert.strictEqual(response.headers.get("x-gateway-provider"), "stability-ai")
    assert.strictEqual(webui.requests.length, 0)
    const alone = await draw("openai/dall-e-3", { response_format: "b64_json" })
    assert.strictEqual(alone.status, 502)
    assert.include(await alone.text(), "could not be fetched")
  })

  scenario("are fetched up to a size, and what was made is charged", async ({ draw, gateway, openai, rowOf }) => {
    await gateway.manage("PATCH", "/api/settings", { media: { maxAnswerMb: 1 } })
    await gateway.manage("PATCH", "/api/pricing", { openai: { "dall-e-3": { perImage: 0.04 } } })
    const large: Fake.Answer = (response) =>
      void response.writeHead(200, { "content-type": "image/png" }).end(Buffer.alloc(1_200_000))
    openai.always(withPicture(() => `${openai.origin}/a.png`, large))
    const response = await draw("openai/dall-e-3", { response_format: "b64_json" })
    assert.strictEqual(response.status, 502)
    assert.include(await response.text(), "media.maxAnswerMb")
    assert.deepInclude(await rowOf(response), { outcome: "failed", costUsd: 0.04 })
  })
})
